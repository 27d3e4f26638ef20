// Text that the system gave us, a file name or an argument, is bytes: any bytes. Python carries
// those that are no UTF-8 as lone surrogates; Native is a string converted that way.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace nanscope::python {

struct Native {
  std::string bytes;
};

}  // namespace nanscope::python

namespace nanobind::detail {

template <>
struct type_caster<nanscope::python::Native> {
  NB_TYPE_CASTER(nanscope::python::Native, const_name("str"))

  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    PyObject* encoded =
        PyUnicode_Check(source.ptr()) ? PyUnicode_EncodeFSDefault(source.ptr()) : nullptr;
    if (encoded == nullptr) {
      PyErr_Clear();
      return false;
    }
    value.bytes.assign(PyBytes_AS_STRING(encoded),
                       static_cast<std::size_t>(PyBytes_GET_SIZE(encoded)));
    Py_DECREF(encoded);
    return true;
  }

  static handle from_cpp(const nanscope::python::Native& source, rv_policy,
                         cleanup_list*) noexcept {
    return PyUnicode_DecodeFSDefaultAndSize(source.bytes.data(),
                                            static_cast<Py_ssize_t>(source.bytes.size()));
  }
};

}  // namespace nanobind::detail
