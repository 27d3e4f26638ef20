#include "adapters/torch/watch/owners.h"

#include <Python.h>
#include <torch/csrc/autograd/variable.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string_view>
#include <thread>

#include "adapters/torch/interpose/private_members.h"
#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/owner_thread.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {

// What is kept of the calling thread as an owner.
class Owners {
 public:
  static std::shared_ptr<OwnerThread>& mine() { return this_thread().owner_; }
};

namespace {

constexpr const char* kCapsule = "nanscope.owner";
constexpr int kMostTries = 64;

using Kept = std::shared_ptr<OwnerThread>;

void end_owner(PyObject* capsule) {
  auto* kept = static_cast<Kept*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (kept == nullptr) return PyErr_Clear();
  (*kept)->end();
  delete kept;
}

// Puts something into the thread's state whose end is the thread's end.
bool end_with_thread(const Kept& owner) {
  PyObject* const local = PyThreadState_GetDict();  // borrowed
  if (local == nullptr) return false;
  PyObject* const capsule = PyCapsule_New(new Kept(owner), kCapsule, &end_owner);
  if (capsule == nullptr) {
    PyErr_Clear();
    return false;
  }
  const bool kept = PyDict_SetItemString(local, kCapsule, capsule) == 0;
  if (!kept) PyErr_Clear();
  Py_DECREF(capsule);
  return kept;
}

// Functions of the standard library inside which a thread does nothing but wait.
bool is_a_wait(std::string_view file, std::string_view function) {
  struct Wait {
    std::string_view file;
    std::string_view function;
  };
  static constexpr std::array kWaits = {
      Wait{"/threading.py", "Condition.wait"},
      Wait{"/threading.py", "Thread.join"},
      Wait{"/threading.py", "Thread._wait_for_tstate_lock"},
      Wait{"/concurrent/futures/thread.py", "_worker"},
  };
  for (const Wait& wait : kWaits) {
    if (file.ends_with(wait.file) && function == wait.function) return true;
  }
  return false;
}

std::string_view text_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* words =
      text != nullptr && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  if (words == nullptr) {
    PyErr_Clear();
    return {};
  }
  return {words, static_cast<std::size_t>(size)};
}

bool waits(PyThreadState* state) {
  PyFrameObject* const frame = PyThreadState_GetFrame(state);
  if (frame == nullptr) return false;
  PyCodeObject* const code = PyFrame_GetCode(frame);
  const bool waiting = is_a_wait(text_of(code->co_filename), text_of(code->co_qualname));
  Py_DECREF(code);
  Py_DECREF(frame);
  return waiting;
}

}  // namespace

Owner this_owner() {
  Kept& mine = Owners::mine();
  if (mine && mine->runs()) return mine;
  if (PyGILState_Check() == 0) return nullptr;
  auto made = std::make_shared<OwnerThread>(PyThreadState_Get());
  if (!end_with_thread(made)) return nullptr;
  mine = std::move(made);
  Threads::get().count_owner();
  return mine;
}

bool are_several_owners() noexcept { return Threads::get().owners() > 1; }

bool is_another_thread(const Owner& owner) {
  return owner && owner != Owners::mine() && owner->runs();
}

bool is_another_at_work(const Owner& owner) {
  return is_another_thread(owner) && !waits(owner->state());
}

std::optional<at::Tensor> try_gradient_of(const at::Tensor& leaf) {
  if (!is_known_to_python()) return std::nullopt;
  std::optional<WithGil> gil;
  if (Py_IsInitialized() != 0) gil.emplace();
  const auto* meta = torch::autograd::impl::get_autograd_meta(leaf);
  if (meta == nullptr) return at::Tensor();
  std::unique_lock of_leaf(meta->mutex_, std::try_to_lock);
  if (!of_leaf) return std::nullopt;
  const auto accumulator = meta->grad_accumulator_.lock();
  of_leaf.unlock();
  if (!accumulator) return meta->grad_;
  const std::unique_lock of_node((*accumulator).*node_mutex(), std::try_to_lock);
  if (!of_node) return std::nullopt;
  return meta->grad_;
}

at::Tensor gradient_of(const at::Tensor& leaf) {
  if (!are_several_owners()) return leaf.grad();
  for (int i = 0; i < kMostTries; ++i) {
    if (std::optional<at::Tensor> gradient = try_gradient_of(leaf)) return *std::move(gradient);
    const WithoutGil others_go_on;
    std::this_thread::yield();
  }
  return leaf.grad();  // as the program itself reads it
}

}  // namespace nanscope::torch_adapter
