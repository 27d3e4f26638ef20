#include "adapters/torch/device/window.h"

#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "adapters/torch/device/kept_memory.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/kernels_only.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kUsualBytes = 256u << 20;

std::size_t number_of_setting(const char* variable, std::size_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// In their order; each is of the type that is large enough for what was looked at.
std::vector<double> brought_home(const std::vector<at::Tensor>& looks) {
  std::vector<double> numbers(looks.size());
  for (const c10::ScalarType type : {at::kFloat, at::kDouble}) {
    std::vector<at::Tensor> some;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < looks.size(); ++i) {
      if (looks[i].scalar_type() != type) continue;
      some.push_back(looks[i]);
      places.push_back(i);
    }
    if (some.empty()) continue;
    const at::Tensor here = at::stack(some).to(c10::kCPU, at::kDouble);
    for (std::size_t i = 0; i < some.size(); ++i)
      numbers[places[i]] = here.const_data_ptr<double>()[i];
  }
  return numbers;
}

// The same without memory for all of them at once.
std::vector<double> brought_home_singly(const std::vector<at::Tensor>& looks) {
  std::vector<double> numbers;
  for (const at::Tensor& look : looks) numbers.push_back(look.item<double>());
  return numbers;
}

}  // namespace

Window::Window()
    : most_ops_(number_of_setting("NANSCOPE_WINDOW", 0)),
      most_bytes_(number_of_setting("NANSCOPE_WINDOW_BYTES", kUsualBytes)) {}

void Window::add(std::unique_ptr<OpInFlight> op) {
  std::size_t waiting = 0;
  {
    const std::lock_guard guard(lock_);
    ops_.push_back(std::move(op));
    ++counts_.put_off;
    waiting = ops_.size();
    waiting_ = waiting;
  }
  if (waiting >= most_ops_ || KeptMemory::get().bytes() > most_bytes_) settle_all();
}

Window::Ops Window::take() {
  const std::lock_guard guard(lock_);
  waiting_ = 0;
  return std::exchange(ops_, {});
}

void Window::forget() {
  const Ops forgotten = take();  // let go of outside the lock
  reopen();
}

Window::Counts Window::counts() const {
  const std::lock_guard guard(lock_);
  return counts_;
}

void Window::settle_all() {
  const Ops ops = take();
  if (ops.empty()) return;
  std::vector<at::Tensor> looks;
  for (const auto& op : ops) looks.insert(looks.end(), op->looks.begin(), op->looks.end());
  std::vector<double> found;
  {
    const KernelsOnly kernels_only;
    const WithoutGil without_gil;
    try {
      found = brought_home(looks);
    } catch (const c10::OutOfMemoryError&) {
      found = brought_home_singly(looks);
    }
  }
  std::size_t first_bad = 0;  // the op
  for (std::size_t look = 0; first_bad < ops.size(); ++first_bad) {
    const std::size_t end = look + ops[first_bad]->looks.size();
    if (!std::all_of(&found[look], &found[end], [](double x) { return std::isfinite(x); })) break;
    look = end;
  }
  const std::size_t late = ops.size() - first_bad;
  {
    const std::lock_guard guard(lock_);
    counts_.waits += looks.empty() ? 0 : 1;
    counts_.judged += late;
  }
  if (late == 0) return;
  closed_ = true;
  SavedByNode saved;
  for (std::size_t i = first_bad; i < ops.size(); ++i) ops[i]->revive(saved);
  for (std::size_t i = first_bad; i < ops.size(); ++i) ops[i]->judge(saved);
}

}  // namespace nanscope::torch_adapter
