#include "adapters/torch/watch/stopping.h"

#include <Python.h>
#include <nanobind/nanobind.h>
#include <torch/csrc/Exceptions.h>

#include <utility>

#include "adapters/torch/watch/gil.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kNoFinding = ThreadWatch::kNoFinding;

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

// While one lives, torch's compiler reads no frame of this thread: a function that is only partly
// compiled runs with it switched on, and what we ask of Python is not the program's. With the GIL
// held and no error set.
class WithoutCompiler {
 public:
  WithoutCompiler() noexcept : before_(put(Py_None)) {}
  ~WithoutCompiler() {
    if (before_ == nullptr) return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    Py_XDECREF(put(before_));
    Py_DECREF(before_);
    PyErr_Restore(type, value, trace);
  }
  WithoutCompiler(const WithoutCompiler&) = delete;
  WithoutCompiler& operator=(const WithoutCompiler&) = delete;

 private:
  // What was there before; null where this torch has no such thing.
  static PyObject* put(PyObject* callback) noexcept {
    PyObject* const frames = PyImport_ImportModule("torch._C._dynamo.eval_frame");
    PyObject* const before =
        frames == nullptr ? nullptr : PyObject_CallMethod(frames, "set_eval_frame", "O", callback);
    Py_XDECREF(frames);
    if (before == nullptr) PyErr_Clear();
    return before;
  }

  PyObject* before_;
};

}  // namespace

void Stopping::configure(PyObject* exception_for, std::int64_t steps) {
  exception_for_.keep(exception_for);
  most_steps_ = steps;
}

void Stopping::tell_of_reads(PyObject* callback) { on_read_.keep(callback); }

// With the GIL held; takes the reference. Python returns the exception: one it raised would show
// a frame of ours.
void Stopping::throw_exception_for(PyObject* finding) {
  PyObject* exception = nullptr;
  {
    const Busy busy;                        // a debugger may be open in there
    if (exception_for_.get() == nullptr) {  // a watch() block that is over by now
      Py_XDECREF(finding);
      return;
    }
    const WithoutCompiler without_compiler;
    exception = finding == nullptr ? nullptr : PyObject_CallOneArg(exception_for_.get(), finding);
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
  if (std::exchange(thread.look_wanted_, false)) {
    const Busy busy;
    const WithoutCompiler without_compiler;
    PyObject* answer = on_read_.get() != nullptr ? PyObject_CallNoArgs(on_read_.get()) : nullptr;
    if (answer == nullptr) PyErr_Clear();
    Py_XDECREF(answer);
    if (thread.stop_for_ == kNoFinding && thread.interrupt_ == nullptr) {
      thread.forget_stop();
      return;
    }
  }
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

namespace {

// The exception that is set, which is then set no more.
PyObject* take_exception() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value != nullptr && trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return value;
}

bool is_no_fault(PyObject* exception) {
  return PyErr_GivenExceptionMatches(exception, PyExc_Exception) == 0;
}

}  // namespace

PyObject* Stopping::ask(PyObject* function, PyObject* arguments) noexcept {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* answer = nullptr;
  {
    const WithoutCompiler without_compiler;
    answer = PyObject_Call(function, arguments, nullptr);
    for (int again = 0; again < 2 && answer == nullptr; ++again) {
      PyObject* const raised = take_exception();
      if (again == 0) answer = PyObject_Call(function, arguments, nullptr);
      if (answer != nullptr || is_no_fault(raised)) {
        keep_interrupt(raised);
      } else {
        Py_XDECREF(raised);
      }
    }
  }
  PyErr_Restore(type, value, trace);
  return answer;
}

void Stopping::keep_interrupt(PyObject* exception) noexcept {
  ThreadWatch& thread = this_thread();
  Py_XDECREF(static_cast<PyObject*>(thread.interrupt_));  // the last word counts, as in Python
  thread.interrupt_ = exception;
  if (!thread.stop_wanted()) thread.want_stop(kNoFinding);
}

}  // namespace nanscope::torch_adapter
