// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/firmware_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

namespace npu::runtime {

void FirmwareLog::fetch(uint32_t produced) {
  if (produced - fetched_ > bytes_) {
    const uint32_t lost = produced - fetched_ - bytes_;
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    text_ += fmt::format("({} bytes of the log were overwritten before they were read)\n", lost);
    fetched_ += lost;
  }
  while (fetched_ != produced) {
    const uint32_t offset = fetched_ % bytes_;
    std::vector<uint8_t> piece(std::min(produced - fetched_, bytes_ - offset));
    hal_.read_memory(address_ + offset, piece);
    text_.append(piece.begin(), piece.end());
    fetched_ += static_cast<uint32_t>(piece.size());
  }
}

void FirmwareLog::restart() {
  fetched_ = 0;
  if (!text_.empty() && text_.back() != '\n') text_ += '\n';
}

std::string FirmwareLog::take() {
  const size_t length = text_.rfind('\n') + 1;  // 0 when there is none
  std::string lines = text_.substr(0, length);
  text_.erase(0, length);
  return lines;
}

std::string FirmwareLog::last_lines(int count) const {
  const size_t end = text_.rfind('\n');
  if (end == std::string::npos) return {};
  size_t begin = end;
  while (count-- > 0 && begin != std::string::npos && begin > 0) begin = text_.rfind('\n', begin - 1);
  begin = begin == std::string::npos ? 0 : (begin == 0 && text_[0] != '\n' ? 0 : begin + 1);
  return text_.substr(begin, end - begin);
}

}  // namespace npu::runtime
