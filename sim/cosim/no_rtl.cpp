// Of a program that was built without RTL.
#include <fmt/format.h>

#include "hw/contract/error.h"
#include "sim/cosim/rtl_engine.h"

namespace npu::cosim {

bool has_rtl(Unit) { return false; }

bool has_traced_rtl(Unit) { return false; }

std::unique_ptr<RtlEngine> make_rtl_engine(Unit unit, const contract::Capabilities&, const std::string&) {
  throw Error(contract::ErrorCode::kFeatureUnsupported,
              fmt::format("this program was built without RTL, so the {} runs on the model only: build it with "
                          "-DNPU_WITH_RTL=ON",
                          title(unit)));
}

}  // namespace npu::cosim
