#include "adapters/torch/watch/stopping.h"

#include <Python.h>
#include <nanobind/nanobind.h>
#include <torch/csrc/Exceptions.h>

#include <limits>
#include <utility>

#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {
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

}  // namespace

void Stopping::configure(PyObject* exception_for, std::int64_t steps) {
  Py_XINCREF(exception_for);
  Py_XSETREF(exception_for_, exception_for);
  most_steps_ = steps;
}

// With the GIL held; takes the reference. Python returns the exception: one it raised would show
// a frame of ours.
void Stopping::throw_exception_for(PyObject* finding) {
  PyObject* exception = nullptr;
  {
    const Busy busy;                  // a debugger may be open in there
    if (exception_for_ == nullptr) {  // a watch() block that is over by now
      Py_XDECREF(finding);
      return;
    }
    exception = finding == nullptr ? nullptr : PyObject_CallOneArg(exception_for_, finding);
  }
  Py_XDECREF(finding);
  if (exception == Py_None) {
    Py_DECREF(exception);
    return;
  }
  throw_python(exception);
}

void Stopping::stop_if_wanted() {
  ThreadWatch& thread = this_thread();
  if (__builtin_expect(!thread.stop_wanted_, 1)) return;
  const WithGil gil;
  if (thread.interrupt_ != nullptr) {
    thread.stop_wanted_ = thread.stop_for_ != kNoFinding;  // caught, it is stopped at its next op
    throw_python(static_cast<PyObject*>(std::exchange(thread.interrupt_, nullptr)));
  }
  thread.forget_stop();
  ++thrown_;
  throw_exception_for(PyLong_FromSize_t(thread.stop_for_));
  --thrown_;  // it runs on
}

void Stopping::stop_after_steps(std::int64_t done) {
  if (most_steps_ == 0 || done < most_steps_) return;
  const WithGil gil;
  throw_exception_for(Py_NewRef(Py_None));
}

void Stopping::raise(PyObject* exception) {
  ++thrown_;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
  throw nanobind::python_error();
}

void Stopping::begin_anew() noexcept {
  this_thread().forget_stop();
  thrown_ = 0;
}

void Stopping::keep_interrupt(PyObject* exception) noexcept {
  ThreadWatch& thread = this_thread();
  Py_XDECREF(static_cast<PyObject*>(thread.interrupt_));  // the last word counts, as in Python
  thread.interrupt_ = exception;
  if (!thread.stop_wanted()) thread.want_stop(kNoFinding);
}

}  // namespace nanscope::torch_adapter
