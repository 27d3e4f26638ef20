#include "adapters/torch/hit/saved.h"

#include <Python.h>
#include <torch/csrc/autograd/python_cpp_function.h>
#include <torch/csrc/autograd/python_variable.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "adapters/torch/interpose/tensors.h"
#include "adapters/torch/program/nodes.h"
#include "adapters/torch/watch/then.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::string_view kPrefix = "_saved_";

// Owned by us until the end of its scope.
struct Reference {
  PyObject* object;
  explicit Reference(PyObject* given) : object(given) { PyErr_Clear(); }
  ~Reference() { Py_XDECREF(object); }
  Reference(const Reference&) = delete;
};

bool asks_python(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  return impl.key_set().has(c10::DispatchKey::Python) && sight_of(impl) == Sight::kWrapped;
}

bool passes_through_hooks(PyObject* node, const char* name) {
  const Reference raw(PyObject_GetAttrString(node, (std::string("_raw") + name).c_str()));
  if (raw.object == nullptr) return false;  // a number
  const Reference hook(PyObject_GetAttrString(raw.object, "unpack_hook"));
  return hook.object != Py_None;
}

// Nodes give a negative dim as an unsigned number of 64 bits.
double number_in(PyObject* value) {
  if (PyFloat_Check(value)) return PyFloat_AS_DOUBLE(value);
  return static_cast<double>(static_cast<std::int64_t>(PyLong_AsUnsignedLongLongMask(value)));
}

void collect(PyObject* node, const char* attribute, Saved& saved) {
  if (!std::string_view(attribute).starts_with(kPrefix) || passes_through_hooks(node, attribute))
    return;
  const Reference value(PyObject_GetAttrString(node, attribute));
  if (value.object == nullptr) return;
  const char* name = attribute + kPrefix.size();
  if (THPVariable_Check(value.object)) {
    // What a subclass wraps: its own sizes may be the program's code, which we do not run.
    at::Tensor tensor = THPVariable_Unpack(value.object);
    if (tensor.unsafeGetTensorImpl()->key_set().has(c10::DispatchKey::Python))
      tensor = values_of(tensor);
    if (!asks_python(tensor)) saved.tensors.emplace_back(name, std::move(tensor));
  } else if (PyFloat_Check(value.object) || PyLong_CheckExact(value.object)) {
    saved.numbers.emplace_back(name, number_in(value.object));
    PyErr_Clear();
  }
}

void collect_all(PyObject* node, Saved& saved) {
  const Reference names(PyObject_Dir(node));
  const Py_ssize_t count = names.object == nullptr ? 0 : PyList_GET_SIZE(names.object);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const char* name = PyUnicode_AsUTF8(PyList_GET_ITEM(names.object, i));
    if (name != nullptr) collect(node, name, saved);
  }
  PyErr_Clear();
}

}  // namespace

Saved saved_by(const NodePtr& node) {
  Saved saved;
  if (!node) return saved;
  const Then* const then = this_thread().then();
  if (then != nullptr && then->saved != nullptr && then->saved->find(node.get(), saved))
    return saved;
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  {
    const Reference object(torch::autograd::functionToPyObject(node));
    if (object.object != nullptr) collect_all(object.object, saved);
  }
  PyErr_Restore(type, value, trace);
  PyGILState_Release(gil);
  return saved;
}

Saved saved_by_current_node() { return saved_by(running_node()); }

std::string format_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

}  // namespace nanscope::torch_adapter
