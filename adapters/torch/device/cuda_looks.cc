#include "adapters/torch/device/cuda_looks.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <c10/core/DeviceGuard.h>
#include <dlfcn.h>

#include <cmath>
#include <mutex>

#include "adapters/seams/torch_api.h"
#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/watch/kernels_only.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::int64_t kPlanted = 257;

// The library that this function of torch's is in.
std::string torch_library() {
  Dl_info found{};
  const auto function = &c10::DeviceTypeName;
  return dladdr(reinterpret_cast<const void*>(function), &found) != 0 && found.dli_fname != nullptr
             ? found.dli_fname
             : "";
}

TensorView view_where_it_is(const c10::TensorImpl& tensor) {
  return {address_of(tensor),
          dtype_of(c10::typeMetaToScalarType(tensor.dtype())),
          {tensor.sizes().data(), tensor.sizes().size()},
          {tensor.strides().data(), tensor.strides().size()}};
}

}  // namespace

void CudaLooks::serve(c10::DeviceType type, const std::string& driver,
                      const std::string& compiler) {
  type_ = type;
  driver_ = driver;
  compilers_ = {compiler};
}

void CudaLooks::give_up(const std::string& why) {
  given_up_ = true;
  const std::lock_guard guard(lock_);
  state_ = {.why_not = why};
}

CudaLooks::State CudaLooks::state() const {
  const std::lock_guard guard(lock_);
  return state_;
}

CudaLooks::OfDevice& CudaLooks::of_device(int index) {
  const std::lock_guard guard(lock_);
  OfDevice& device = devices_.at(index);
  if (device.probe != nullptr) return device;
  if (libraries_ == nullptr) {
    const bool usual = compilers_.empty();
    libraries_.reset(
        new Libraries{CudaDriver(driver_),
                      CudaCubins(usual ? names_of_cuda_compilers(torch_library()) : compilers_,
                                 usual ? CubinCache::usual_folder() : "")});
  }
  const CudaDriver& driver = libraries_->driver;
  driver.check(driver.ctx_get_current(&device.context), "cuCtxGetCurrent");
  device.probe = std::make_unique<CudaProbe>(driver, libraries_->cubins, lock_of_probes_);
  state_ = {.architecture = device.probe->architecture()};
  return device;
}

// All are launched before the first is waited for. A place that is taken is given back when its
// word is read, so what was launched is waited for in any case.
std::optional<std::vector<int>> CudaLooks::look(
    const std::vector<const c10::TensorImpl*>& tensors) {
  const c10::Device where = tensors.front()->device();
  const c10::DeviceGuard guard(where);
  OfDevice& device = of_device(where.index());
  CudaDriver::Context context = nullptr;
  const CudaDriver& driver = libraries_->driver;
  driver.check(driver.ctx_get_current(&context), "cuCtxGetCurrent");
  if (context != device.context) return std::nullopt;
  const std::optional<void*> handle = stream_handle(where);
  if (!handle) return std::nullopt;
  auto* const stream = static_cast<CudaDriver::Stream>(*handle);
  std::vector<CudaProbe::Look> looks;
  for (const c10::TensorImpl* tensor : tensors) {
    const auto look = device.probe->launch(view_where_it_is(*tensor), stream);
    if (!look) break;
    looks.push_back(*look);
  }
  std::vector<int> found;
  for (std::size_t i = 0; i < looks.size(); ++i)
    found.push_back(device.probe->wait(looks[i], view_where_it_is(*tensors[i]).dtype, stream));
  if (found.size() < tensors.size()) return std::nullopt;
  return found;
}

// In whole tensors and between gaps.
bool CudaLooks::is_right(c10::Device device, c10::ScalarType type) {
  const KernelsOnly kernels_only;
  const auto is_same = [&](const at::Tensor& here) {
    const at::Tensor there = here.to(device);
    for (const auto& [from, step] : {std::pair{0, 1}, {0, 2}, {1, 2}}) {
      const at::Tensor one = here.slice(0, from, kPlanted, step);
      const at::Tensor other = there.slice(0, from, kPlanted, step);
      const auto seen = look({other.unsafeGetTensorImpl()});
      if (!seen || seen->front() != ceiling_of(*one.unsafeGetTensorImpl())) return false;
    }
    return true;
  };
  for (const double number : {1.0, 0.0, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    for (const std::int64_t place : {std::int64_t{0}, std::int64_t{101}, kPlanted - 1}) {
      at::Tensor planted = at::arange(1, kPlanted + 1, at::kDouble).mul_(0.5).to(type);
      planted.select(0, place).copy_(at::full({}, number, at::kDouble).to(type));
      if (!is_same(planted)) return false;
    }
  }
  return true;
}

bool CudaLooks::is_served(const c10::TensorImpl& tensor) {
  const c10::Device device = tensor.device();
  if (device.type() != type_ || device.index() < 0 || device.index() >= kMostDevices) return false;
  const c10::ScalarType type = c10::typeMetaToScalarType(tensor.dtype());
  auto& answer = answers_[device.index()][static_cast<int>(dtype_of(type))];
  if (answer == Answer::kNotAsked) answer = is_right(device, type) ? Answer::kYes : Answer::kNo;
  return answer == Answer::kYes;
}

std::optional<std::vector<int>> CudaLooks::ceilings(
    const std::vector<const c10::TensorImpl*>& tensors) {
  if (given_up_) return std::nullopt;
  try {
    for (const c10::TensorImpl* tensor : tensors) {
      if (!is_served(*tensor)) return std::nullopt;
    }
    return look(tensors);
  } catch (const std::exception& error) {
    const std::string words = error.what();
    give_up(words.substr(0, words.find('\n')));
    return std::nullopt;
  }
}

}  // namespace nanscope::torch_adapter
