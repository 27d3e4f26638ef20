// What running a program needs of C: to be out of its sight.

#include <cxxabi.h>
#include <nanobind/stl/string.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "adapters/python/last_words.h"
#include "adapters/python/module.h"
#include "adapters/seams/python_frame.h"

namespace nb = nanobind;

namespace nanscope::python {
namespace {

nb::object called(nb::handle function, nb::handle args, nb::handle kwargs) {
  PyObject* result = PyObject_Call(function.ptr(), args.ptr(), kwargs.ptr());
  if (result == nullptr) throw nb::python_error();
  return nb::steal(result);
}

// Calls the function as if nothing had been called before: `traceback.print_stack`, a warning's
// stacklevel and `sys._getframe` end at its own frame, as they do at a program's first.
nb::object call_hidden(nb::handle function, const nb::args& args) {
  PythonFrame*& innermost = innermost_slot(PyThreadState_Get());
  PythonFrame* below = std::exchange(innermost, nullptr);
  PyObject* result = PyObject_CallObject(function.ptr(), args.ptr());
  innermost = below;
  if (result == nullptr) throw nb::python_error();
  return nb::steal(result);
}

// Stands in for a function, and adds no frame to a traceback. `before` is given the arguments;
// `after` the result, and gives the one to use.
struct Around {
  nb::object function;
  nb::object before;
  nb::object after;

  // Python ends a thread that still waits when the program is over by pthread_exit. That unwinds
  // the stack by an exception that the binding would take for one of C++: the thread stays here.
  nb::object call(const nb::args& args, const nb::kwargs& kwargs) const {
    try {
      if (!before.is_none()) called(before, args, {});
      nb::object result = called(function, args, kwargs);
      return after.is_none() ? result : after(result);
    } catch (abi::__forced_unwind&) {
      for (;;) ::pause();
    }
  }
};

int raise_pending(void* exception) {
  auto* error = static_cast<PyObject*>(exception);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
  Py_DECREF(error);
  return -1;
}

void nothing(int) {}

// Raises in the main thread as Ctrl-C does, also when it waits for a lock: any signal ends the
// wait, and the exception is found before the next.
void raise_in_main(const nb::object& exception, std::uintptr_t main_thread) {
  if (Py_AddPendingCall(raise_pending, exception.inc_ref().ptr()) != 0) {
    exception.dec_ref();
    return;
  }
  struct sigaction before {};
  if (::sigaction(SIGURG, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  struct sigaction ours {};
  ours.sa_handler = nothing;
  ::sigaction(SIGURG, &ours, nullptr);
  ::pthread_kill(static_cast<pthread_t>(main_thread), SIGURG);
}

nb::object* other_program = nullptr;

// Tells Python of programs that this one starts. As an audit hook in C it costs a comparison for
// each event, and is seen by nobody.
int audit(const char* event, PyObject* args, void*) {
  const bool starts =
      std::strcmp(event, "subprocess.Popen") == 0 || std::strncmp(event, "os.exec", 7) == 0 ||
      std::strcmp(event, "os.posix_spawn") == 0 || std::strcmp(event, "os.system") == 0;
  if (!starts || Py_IsInitialized() == 0) return 0;
  try {
    (*other_program)(event, nb::handle(args));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) {  // Ctrl-C arrived meanwhile
      error.restore();
      return -1;
    }
    error.discard_as_unraisable(event);
  }
  return 0;
}

void hear_of_programs(nb::object listener) {
  other_program = new nb::object(std::move(listener));
  if (PySys_AddAuditHook(audit, nullptr) != 0) throw nb::python_error();
}

}  // namespace

void add_running(nb::module_& module) {
  module.def("call_hidden", &call_hidden);
  nb::class_<Around>(module, "Around")
      .def(
          "__init__",
          [](Around* self, nb::object function, nb::object before, nb::object after) {
            new (self) Around{std::move(function), std::move(before), std::move(after)};
          },
          nb::arg("function"), nb::arg("before").none() = nb::none(),
          nb::arg("after").none() = nb::none())
      .def("__call__", &Around::call)
      // Who asks what it is gets the answers of the function.
      .def_prop_ro("__signature__",
                   [](const Around& self) {
                     return nb::module_::import_("inspect").attr("signature")(self.function);
                   })
      .def("__getattr__", [](const Around& self, const nb::str& name) {
        return nb::object(self.function.attr(name));
      });
  module.def("raise_in_main", &raise_in_main, nb::arg("exception"), nb::arg("main_thread"));
  module.def("hear_of_programs", &hear_of_programs, nb::arg("listener"));
  module.def("have_last_words", &have_last_words, nb::arg("say"));
  module.def("last_words_in_child", &last_words_in_child);
  module.def("end_last_words", &end_last_words);
  module.def("no_last_words", &no_last_words);
}

}  // namespace nanscope::python
