// What NumPy reports floating-point errors to while a program is watched.
//
// It tells Python of the error, and then does what the program's own errstate asks for, as NumPy
// itself would have done it: from C, so that a warning belongs to the same line and a traceback has
// no frame of ours.

#include <Python.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdio>
#include <string_view>

#include "adapters/python/module.h"

namespace nb = nanobind;

namespace nanscope::python {
namespace {

// "Warning: divide by zero encountered in log\n" without what NumPy puts around it.
std::string words_of(std::string_view message) {
  constexpr std::string_view kBefore = "Warning: ";
  if (message.starts_with(kBefore)) message.remove_prefix(kBefore.size());
  if (message.ends_with('\n')) message.remove_suffix(1);
  return std::string(message);
}

const char* kind_of(std::string_view words) {
  if (words.starts_with("divide")) return "divide";
  if (words.starts_with("overflow")) return "over";
  if (words.starts_with("underflow")) return "under";
  return "invalid";
}

struct NumpyLog {
  nb::dict state;   // the program's own: a word for each kind, and its "call"
  nb::object take;  // is given the words; the frame that called is that of the operation

  void write(const std::string& message) const {
    const std::string words = words_of(message);
    tell(words);
    const std::string asked = nb::cast<std::string>(state[kind_of(words)]);
    if (asked == "warn" && PyErr_WarnEx(PyExc_RuntimeWarning, words.c_str(), 1) != 0)
      throw nb::python_error();
    if (asked == "raise") {
      PyErr_SetString(PyExc_FloatingPointError, words.c_str());
      throw nb::python_error();
    }
    if (asked == "print") std::fputs(message.c_str(), stderr);
    if (asked == "log") nb::object(state["call"]).attr("write")(message);
  }

 private:
  // Raises only what is the program's own, such as Ctrl-C.
  void tell(const std::string& words) const {
    try {
      take(words);
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_Exception)) throw;
    }
  }
};

}  // namespace

void add_numpy_log(nb::module_& module) {
  nb::class_<NumpyLog>(module, "NumpyLog", "What NumPy reports floating-point errors to.")
      .def(
          "__init__",
          [](NumpyLog* self, nb::dict state, nb::object take) {
            new (self) NumpyLog{std::move(state), std::move(take)};
          },
          nb::arg("state"), nb::arg("take"))
      .def_prop_ro("state", [](const NumpyLog& self) { return self.state; })
      .def("write", &NumpyLog::write, nb::arg("message"));
}

}  // namespace nanscope::python
