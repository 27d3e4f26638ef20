#include "adapters/torch/device/readable_devices.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/real.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "adapters/seams/torch_api.h"
#include "adapters/torch/device/host_copies.h"
#include "adapters/torch/device/probe.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/kernels_only.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::int64_t kElements = 257;

// Finite, in any type that there is: also in one without zero and sign.
at::Tensor ordinary_numbers(c10::ScalarType type) {
  return at::arange(1, kElements + 1, at::kDouble).mul_(0.5).to(type);
}

bool is_bad_there(const at::Tensor& tensor) {
  return !std::isfinite(largest_on_device(*tensor.unsafeGetTensorImpl()));
}

// With a number that is not finite at one place. Some types have no infinity.
bool finds(double number, std::int64_t place, c10::Device device, c10::ScalarType type) {
  at::Tensor planted = ordinary_numbers(type);
  planted.select(0, place).copy_(at::full({}, number, at::kDouble).to(type));
  const bool is_bad = !is_finite(*planted.unsafeGetTensorImpl());
  const at::Tensor there = planted.to(device);
  if (is_bad_there(there) != is_bad) return false;
  const bool at_even = place % 2 == 0;
  return is_bad_there(there.slice(0, 0, kElements, 2)) == (is_bad && at_even) &&
         is_bad_there(there.slice(0, 1, kElements, 2)) == (is_bad && !at_even);
}

bool brings_back(c10::Device device, c10::ScalarType type) {
  const at::Tensor here = ordinary_numbers(type);
  const at::Tensor there = here.to(device);
  const c10::TensorImpl& impl = *there.unsafeGetTensorImpl();
  const at::Tensor back = copied_to_host(impl, range_of(impl));
  return back.nbytes() == here.nbytes() &&
         std::memcmp(back.const_data_ptr(), here.const_data_ptr(), here.nbytes()) == 0;
}

bool measures(c10::Device device, c10::ScalarType type) {
  const at::Tensor here = ordinary_numbers(type);
  const at::Tensor there = here.to(device);
  const at::Tensor numbers = c10::isComplexType(type) ? at::real(here) : here;
  return largest_on_device(*there.unsafeGetTensorImpl()) ==
         numbers.to(at::kDouble).max().item<double>();
}

}  // namespace

// Integers need only come back.
std::string trouble_with(c10::Device device, c10::ScalarType type) {
  const KernelsOnly kernels_only;
  try {
    if (!brings_back(device, type)) return "numbers do not come back from it as they went";
    if (c10::isIntegralType(type, /*includeBool=*/true)) return "";
    if (!measures(device, type)) return "its maximum norm is another number";
    for (const double number : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      for (const std::int64_t place : {std::int64_t{0}, std::int64_t{101}, kElements - 1}) {
        if (!finds(number, place, device, type))
          return "its maximum norm does not show NaN and Inf";
      }
    }
  } catch (const std::exception& error) {
    const std::string words = error.what();
    return words.substr(0, words.find('\n'));
  }
  return "";
}

bool is_asked_for(c10::DeviceType type) {
  if (!is_untried(type)) return true;
  static const std::string asked = [] {
    const char* names = std::getenv("NANSCOPE_DEVICES");
    return names == nullptr ? std::string() : "," + std::string(names) + ",";
  }();
  return asked.find("," + c10::DeviceTypeName(type, /*lower_case=*/true) + ",") !=
         std::string::npos;
}

bool ReadableDevices::is_readable(c10::Device device, c10::ScalarType type) {
  if (!c10::impl::hasDeviceGuardImpl(device.type()) || captures_graph(device)) return false;
  std::atomic<Answer>& answer = answers_[static_cast<int>(device.type())][static_cast<int>(type)];
  const Answer known = answer.load(std::memory_order_acquire);
  if (known != Answer::kNotAsked) return known == Answer::kYes;
  const std::string trouble = trouble_with(device, type);
  {
    const std::lock_guard guard(lock_);
    if (why_not_.empty() && !trouble.empty()) why_not_ = device.str() + ": " + trouble;
  }
  answer.store(trouble.empty() ? Answer::kYes : Answer::kNo, std::memory_order_release);
  if (trouble.empty()) any_ = true;
  return trouble.empty();
}

std::string ReadableDevices::why_not() const {
  const std::lock_guard guard(lock_);
  return why_not_;
}

}  // namespace nanscope::torch_adapter
