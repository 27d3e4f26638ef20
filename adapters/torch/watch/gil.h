// Giving the GIL up and taking it, for a scope.
#pragma once

#include <Python.h>

namespace nanscope::torch_adapter {

// Gives the GIL up, if this thread has it: the judge's lock is never waited for with the GIL held
// (Note [Order of locks]).
class WithoutGil {
 public:
  WithoutGil() {
    if (PyGILState_Check() == 1) state_ = PyEval_SaveThread();
  }
  ~WithoutGil() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  WithoutGil(const WithoutGil&) = delete;

 private:
  PyThreadState* state_ = nullptr;
};

// A thread that runs Python, or the engine's. Without an interpreter there are no others.
inline bool is_known_to_python() noexcept {
  return PyGILState_GetThisThreadState() != nullptr || Py_IsInitialized() == 0;
}

class WithGil {
 public:
  WithGil() : state_(PyGILState_Ensure()) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace nanscope::torch_adapter
