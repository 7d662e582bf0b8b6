// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim/cycle_comparison.h"

#include <cmath>
#include <cstdlib>

namespace npu::cosim {
namespace {

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

bool larger(int64_t a, int64_t b) { return std::abs(a) > std::abs(b); }

}  // namespace

void CycleComparison::add(uint64_t rtl_cycles, uint64_t said) {
  const auto difference = static_cast<int64_t>(rtl_cycles - said);
  ++count;
  exact += difference == 0 ? 1 : 0;
  rtl += rtl_cycles;
  absolute += static_cast<uint64_t>(std::abs(difference));
  sum += difference;
  if (larger(difference, worst)) worst = difference;
  const double relative = ratio(static_cast<double>(difference), static_cast<double>(rtl_cycles));
  if (std::abs(relative) > std::abs(worst_relative)) worst_relative = relative;
}

void CycleComparison::add(const CycleComparison& other) {
  count += other.count;
  exact += other.exact;
  rtl += other.rtl;
  absolute += other.absolute;
  sum += other.sum;
  if (larger(other.worst, worst)) worst = other.worst;
  if (std::abs(other.worst_relative) > std::abs(worst_relative)) worst_relative = other.worst_relative;
}

double CycleComparison::share_exact() const { return ratio(static_cast<double>(exact), static_cast<double>(count)); }
double CycleComparison::mean_absolute() const {
  return ratio(static_cast<double>(absolute), static_cast<double>(count));
}
double CycleComparison::mean() const { return ratio(static_cast<double>(sum), static_cast<double>(count)); }
double CycleComparison::relative() const { return ratio(static_cast<double>(sum), static_cast<double>(rtl)); }

}  // namespace npu::cosim
