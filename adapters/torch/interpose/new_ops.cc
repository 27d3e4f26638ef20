#include "adapters/torch/interpose/new_ops.h"

#include <link.h>

#include <mutex>
#include <utility>

namespace nanscope::torch_adapter {
namespace {

std::uint64_t libraries_loaded() {
  std::uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* answer) {
        *static_cast<std::uint64_t*>(answer) = info->dlpi_adds;
        return 1;  // the first knows it
      },
      &count);
  return count;
}

}  // namespace

void NewOps::note(const c10::OperatorName& name) {
  const std::lock_guard guard(lock_);
  names_.insert(name);
  fresh_.store(true, std::memory_order_relaxed);
}

std::unordered_set<c10::OperatorName> NewOps::take() {
  const std::lock_guard guard(lock_);
  fresh_.store(false, std::memory_order_relaxed);
  return std::exchange(names_, {});
}

void NewOps::put_back(const c10::OperatorName& name) {
  const std::lock_guard guard(lock_);
  names_.insert(name);
}

void NewOps::are_known(const std::vector<c10::OperatorHandle>& ops) {
  const std::lock_guard guard(lock_);
  for (const c10::OperatorHandle& op : ops) kernels_.look_at(op);
}

void NewOps::is_gone(const c10::OperatorName& name) {
  const std::lock_guard guard(lock_);
  kernels_.forget(name);
}

void NewOps::note_changed(bool called) {
  const std::lock_guard guard(lock_);
  for (const KernelTable::Changed& op : kernels_.changed()) {
    names_.insert(op.name);
    fresh_.store(true, std::memory_order_relaxed);
    if (called || op.in_front) unwatched_.fetch_add(1, std::memory_order_relaxed);
  }
}

bool NewOps::has_new_libraries() {
  const std::uint64_t now = libraries_loaded();
  return std::exchange(libraries_, now) != now;
}

}  // namespace nanscope::torch_adapter
