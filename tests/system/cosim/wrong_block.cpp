// `npu` with a wrong block of RTL in place of the right one, to see that it is found.
#include "rtl/verilated/wrong.h"
#include "sim/cosim/blocks.h"

namespace {

[[maybe_unused]] const bool wrong = [] {
  npu::cosim::blocks().mac_array = [](std::string_view) { return npu::rtl::make_wrong_mac_array(); };
  npu::cosim::blocks().traced_mac_array = nullptr;
  return true;
}();

}  // namespace
