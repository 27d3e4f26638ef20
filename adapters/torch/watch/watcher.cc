#include "adapters/torch/watch/watcher.h"

#include <Python.h>
#include <nanobind/nanobind.h>
#include <torch/csrc/Exceptions.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/program/frames.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/sentinel/unseen_steps.h"

namespace nanscope::torch_adapter {
namespace {

Lock threads_lock{LockRank::kThreads};
std::vector<ThreadWatch*>& threads() {
  static auto& all = *new std::vector<ThreadWatch*>;
  return all;
}
Counters& of_ended_threads() {
  static auto& counters = *new Counters;
  return counters;
}

void add(Counters& to, const Counters& from) {
  to.ops += from.ops;
  to.bytes += from.bytes;
  for (std::size_t i = 0; i < std::size(to.unseen); ++i) to.unseen[i] += from.unseen[i];
}

PyObject* exception_for = nullptr;
std::int64_t most_steps = 0;
std::atomic<int> stops_thrown{0};

}  // namespace

Watcher* const Watcher::instance_ = new Watcher;

__thread ThreadWatch* current_thread = nullptr;

ThreadWatch& begin_thread() {
  // When the thread ends, its counters are added to those of the ended.
  struct Ends {
    ThreadWatch watch;
    ~Ends() {
      const std::lock_guard guard(threads_lock);
      add(of_ended_threads(), watch.counters);
      std::erase(threads(), &watch);
      current_thread = nullptr;
    }
  };
  thread_local Ends ends;
  current_thread = &ends.watch;
  const std::lock_guard guard(threads_lock);
  if (std::find(threads().begin(), threads().end(), &ends.watch) == threads().end())
    threads().push_back(&ends.watch);
  return ends.watch;
}

Counters Watcher::counters() const {
  const std::lock_guard guard(threads_lock);
  Counters sum = of_ended_threads();
  for (const ThreadWatch* thread : threads()) add(sum, thread->counters);
  return sum;
}

void Watcher::note_allocation(const OpInfo* op, const at::Tensor& tensor) {
  const StorageId storage = storage_id(*tensor.unsafeGetTensorImpl());
  if (storage.value == 0 || !tensor.is_floating_point()) return;
  Place place = current_place();
  const std::lock_guard guard(allocations_lock_);
  if (allocations_.size() >= sweep_at_) {
    std::erase_if(allocations_, [](const auto& entry) { return entry.second.storage.expired(); });
    sweep_at_ = std::max(kFirstSweep, 2 * allocations_.size());
  }
  allocations_.insert_or_assign(
      storage, Allocation{tensor.storage().getWeakStorageImpl(), {op, std::move(place)}});
}

void Watcher::forget_storages() {
  for (auto& slot : made_) slot.store(0, std::memory_order_relaxed);
  const std::lock_guard guard(allocations_lock_);
  allocations_.clear();
  given_away_.clear();
}

void Watcher::others_may_write(const at::Tensor& tensor) {
  unmark_made(storage_of(*tensor.unsafeGetTensorImpl()));
  const std::lock_guard guard(allocations_lock_);
  allocations_.erase(storage_id(*tensor.unsafeGetTensorImpl()));
}

void Watcher::lend(const at::Tensor& tensor) {
  const c10::StorageImpl* storage = storage_of(*tensor.unsafeGetTensorImpl());
  if (storage == nullptr) return;
  others_may_write(tensor);
  made_[slot_of(storage)].store(Made::lent(storage).word, std::memory_order_relaxed);
}

void Watcher::address_given(const at::Tensor& tensor) {
  const c10::StorageImpl* storage = storage_of(*tensor.unsafeGetTensorImpl());
  const bool computed = storage != nullptr && is_made(storage);
  others_may_write(tensor);
  if (!computed) return;
  const std::lock_guard guard(allocations_lock_);
  if (given_away_.size() >= kMostGivenAway) given_away_.pop_front();
  given_away_.emplace_back(tensor.storage().getWeakStorageImpl());
}

bool Watcher::was_finite(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  const c10::StorageImpl* storage = storage_of(impl);
  if (storage == nullptr || is_foreign(impl)) return false;
  if (is_made(storage)) return true;
  const std::lock_guard guard(allocations_lock_);
  return std::any_of(given_away_.begin(), given_away_.end(), [&](const auto& given) {
    return !given.expired() && given._unsafe_get_target() == storage;
  });
}

std::optional<OpRecord::Read::Allocation> Watcher::allocation_of(const at::Tensor& tensor) {
  const std::lock_guard guard(allocations_lock_);
  const auto found = allocations_.find(storage_id(*tensor.unsafeGetTensorImpl()));
  if (found == allocations_.end() || found->second.storage.expired()) return std::nullopt;
  return found->second.made_by;
}

WithoutGil::WithoutGil() {
  if (PyGILState_Check() == 1) state_ = PyEval_SaveThread();
}
WithoutGil::~WithoutGil() {
  if (state_ != nullptr) PyEval_RestoreThread(static_cast<PyThreadState*>(state_));
}

Place current_place() {
  Place place;
  place.step = Watcher::get().judge.current_step();
  const StackId here = current_stack();
  const StackInfo info = info_of(here);
  const NodeInfo node = current_node();
  place.stack = here;
  place.line = info.line;
  place.in_scaler = info.in_scaler;
  place.printing = info.printing;
  place.phase = info.optimizer ? Phase::kOptimizer : Phase::kForward;
  if (node.running && !info.recomputes) {
    place.phase = Phase::kBackward;
    place.node = node.name;
    place.call_stack = here;
    // User code that the engine calls (autograd.Function, hooks) is its own site.
    if (!info.inside_backward && node.forward != 0) {
      place.stack = node.forward;
      place.line = info_of(node.forward).line;
    }
  }
  return place;
}

namespace {
Lock disarm_lock{LockRank::kDisarming};
std::string& disarm_reason() {
  static auto& reason = *new std::string;
  return reason;
}
}  // namespace

void disarm(const std::string& where, const char* why) noexcept {
  watching = 0;
  const std::lock_guard guard(disarm_lock);
  if (!disarm_reason().empty()) return;
  const std::string_view first_line =
      std::string_view(why).substr(0, std::string_view(why).find('\n'));
  disarm_reason() = "at " + where + ": " + std::string(first_line);
}

std::string disarmed_because() {
  const std::lock_guard guard(disarm_lock);
  return disarm_reason();
}

void count_anew() {
  threads() = {&this_thread()};
  of_ended_threads() = {};
  this_thread().counters = {};
  this_thread().stop_wanted = false;
  stops_thrown = 0;
}

void configure_stop(void* function, std::int64_t steps) {
  Py_XINCREF(static_cast<PyObject*>(function));
  Py_XSETREF(exception_for, static_cast<PyObject*>(function));
  most_steps = steps;
}

int stops() noexcept { return stops_thrown; }

namespace {

constexpr std::size_t kNoFinding = std::numeric_limits<std::size_t>::max();

// With the GIL held; takes the reference. Null: the error that is set.
[[noreturn]] void throw_python(PyObject* exception) {
  if (exception != nullptr) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
    Py_DECREF(exception);
  }
  python_error error;
  error.persist();
  throw error;
}

// With the GIL held; takes the reference. Python returns the exception: one it raised would show
// a frame of ours.
void throw_exception_for(PyObject* finding) {
  PyObject* exception = nullptr;
  {
    const Busy busy;                 // a debugger may be open in there
    if (exception_for == nullptr) {  // a watch() block that is over by now
      Py_XDECREF(finding);
      return;
    }
    exception = finding == nullptr ? nullptr : PyObject_CallOneArg(exception_for, finding);
  }
  Py_XDECREF(finding);
  if (exception == Py_None) {
    Py_DECREF(exception);
    return;
  }
  throw_python(exception);
}

class WithGil {
 public:
  WithGil() : state_(PyGILState_Ensure()) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace

void keep_interrupt(void* exception) noexcept {
  ThreadWatch& thread = this_thread();
  Py_XDECREF(static_cast<PyObject*>(thread.interrupt));  // the last word counts, as in Python
  thread.interrupt = exception;
  if (thread.stop_wanted) return;
  thread.stop_wanted = true;
  thread.stop_for = kNoFinding;
}

void stop_if_wanted() {
  ThreadWatch& thread = this_thread();
  if (__builtin_expect(!thread.stop_wanted, 1)) return;
  const WithGil gil;
  if (thread.interrupt != nullptr) {
    thread.stop_wanted = thread.stop_for != kNoFinding;  // caught, it is stopped at its next op
    throw_python(static_cast<PyObject*>(std::exchange(thread.interrupt, nullptr)));
  }
  thread.stop_wanted = false;
  ++stops_thrown;
  throw_exception_for(PyLong_FromSize_t(this_thread().stop_for));
  --stops_thrown;  // it runs on
}

void raise_stop(void* exception) {
  ++stops_thrown;
  auto* error = static_cast<PyObject*>(exception);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
  throw nanobind::python_error();
}

void stop_after_steps() { stop_after_steps(Watcher::get().judge.current_step()); }

void stop_after_steps(std::int64_t done) {
  if (most_steps == 0 || done < most_steps) return;
  const WithGil gil;
  throw_exception_for(Py_NewRef(Py_None));
}

}  // namespace nanscope::torch_adapter
