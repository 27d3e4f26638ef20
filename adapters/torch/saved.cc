#include "saved.h"

#include <Python.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/python_cpp_function.h>
#include <torch/csrc/autograd/python_variable.h>

#include <array>
#include <charconv>
#include <cmath>

namespace nanscope::torch_adapter {
namespace {

constexpr std::string_view kPrefix = "_saved_";

void collect(PyObject* node, std::vector<std::pair<std::string, at::Tensor>>& saved) {
  PyObject* names = PyObject_Dir(node);
  const Py_ssize_t count = names == nullptr ? 0 : PyList_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const char* name = PyUnicode_AsUTF8(PyList_GET_ITEM(names, i));
    if (name == nullptr || !std::string_view(name).starts_with(kPrefix)) continue;
    PyObject* value = PyObject_GetAttrString(node, name);
    if (value != nullptr && THPVariable_Check(value))
      saved.emplace_back(name + kPrefix.size(), THPVariable_Unpack(value));
    Py_XDECREF(value);
    PyErr_Clear();
  }
  Py_XDECREF(names);
  PyErr_Clear();
}

}  // namespace

std::vector<std::pair<std::string, at::Tensor>> saved_tensors_of_current_node() {
  std::vector<std::pair<std::string, at::Tensor>> saved;
  const auto node = torch::autograd::get_current_node();
  if (!node) return saved;
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (PyObject* object = torch::autograd::functionToPyObject(node)) {
    collect(object, saved);
    Py_DECREF(object);
  }
  PyErr_Restore(type, value, trace);
  PyGILState_Release(gil);
  return saved;
}

std::string format_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

}  // namespace nanscope::torch_adapter
