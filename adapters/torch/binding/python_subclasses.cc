#include "adapters/torch/binding/python_subclasses.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <torch/csrc/Device.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/Layout.h>
#include <torch/csrc/MemoryFormat.h>
#include <torch/csrc/autograd/python_variable.h>

#include <string>
#include <unordered_set>
#include <utility>

#include "adapters/torch/binding/python_objects.h"
#include "adapters/torch/watch/stopping.h"
#include "adapters/torch/watch/threads.h"

namespace nanscope::torch_adapter {
namespace {

constexpr int kMostLayers = 32;
constexpr std::size_t kMostTensors = 4096;

std::string home_of(nb::handle object) {
  return nb::cast<std::string>(nb::str(nb::handle(object.type().attr("__module__"))));
}

// In flight until the program waits for it, which it does before it reads it.
bool is_under_way(nb::handle subclass) {
  return nb::hasattr(subclass, "trigger_wait") && nb::hasattr(subclass, "completed") &&
         !nb::cast<bool>(nb::bool_(nb::object(subclass.attr("completed"))));
}

// Looks through one subclass and all that it wraps.
class Unwrapping {
 public:
  [[nodiscard]] Wrapped look(nb::handle subclass) {
    met_.insert(subclass.ptr());
    look_into(subclass, 0);
    return {std::move(found_), all_};
  }

 private:
  // A tensor, or a container of them. The number of elements that it can hold.
  std::int64_t take(nb::handle value, int layer) {
    if (is_tensor(value)) {
      shown_ += !open_.contains(value.ptr());
      return take_tensor(value, layer);
    }
    const bool is_dict = nb::isinstance<nb::dict>(value);
    if (!is_dict && !nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) {
      understood_ &= is_plain(value);
      return 0;
    }
    if (!met_.insert(value.ptr()).second) return 0;
    std::int64_t held = 0;
    for (nb::handle item : is_dict ? nb::object(value.attr("values")()) : nb::borrow(value))
      held += take(item, layer);
    return held;
  }

  std::int64_t take_tensor(nb::handle value, int layer) {
    if (!met_.insert(value.ptr()).second) return 0;
    const at::Tensor& tensor = unwrap(value);
    const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
    if (found_.size() >= kMostTensors) {
      all_ = false;
    } else if (sight_of(impl) == Sight::kWrapped) {
      look_into(value, layer + 1);
    } else if (impl.key_set().has(c10::DispatchKey::Python)) {
      found_.push_back(tensor);
      look_beside(value, layer + 1);
    } else if (has_parts(impl)) {
      for (const at::Tensor& part : parts_of(tensor)) found_.push_back(part);
    } else {
      found_.push_back(tensor);
    }
    return tensor.scalar_type() == at::kBool ? 0 : tensor.numel();
  }

  // A subclass with memory of its own may compute with other tensors all the same. Whether these
  // are all is not asked.
  void look_beside(nb::handle subclass, int layer) {
    const bool all = all_;
    look_into(subclass, layer);
    all_ = all;
  }

  // By its own account, which shows at least one tensor, and the same one whenever it is asked;
  // else by what it keeps as attributes, if that can be all of it: as many elements, and nothing
  // (a function, an object) that could hold others.
  void look_into(nb::handle subclass, int layer) {
    if (layer > kMostLayers) {
      all_ = false;
      return;
    }
    open_.insert(subclass.ptr());
    if (home_of(subclass).starts_with("torch._subclasses")) return;  // a tensor without values
    if (is_under_way(subclass)) return;
    if (nb::hasattr(subclass, "__tensor_flatten__")) {
      const nb::object names = subclass.attr("__tensor_flatten__")();
      const int shown_before = shown_;
      for (nb::handle name : nb::object(names[0])) {
        const nb::object part = nb::getattr(subclass, name);
        take(part, layer);
        all_ &= is_kept(part, nb::getattr(subclass, name));
      }
      all_ &= shown_ > shown_before;
    } else {
      const bool understood = std::exchange(understood_, true);
      const std::int64_t held = take(nb::getattr(subclass, "__dict__", nb::dict()), layer) +
                                take(slots_of(subclass), layer);
      all_ &= understood_ && held >= unwrap(subclass).numel();
      understood_ = understood;
    }
  }

  // What its classes keep of it beside its __dict__.
  static nb::list slots_of(nb::handle subclass) {
    nb::list values;
    for (nb::handle kind : nb::borrow<nb::tuple>(nb::object(subclass.type().attr("__mro__")))) {
      const auto* type = reinterpret_cast<PyTypeObject*>(kind.ptr());
      if (kind.ptr() == THPVariableClass || (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) continue;
      for (nb::handle slot : nb::object(kind.attr("__dict__").attr("values")())) {
        if (Py_TYPE(slot.ptr()) != &PyMemberDescr_Type) continue;
        PyObject* value = PyMemberDescr_Type.tp_descr_get(slot.ptr(), subclass.ptr(), kind.ptr());
        if (value == nullptr) {
          PyErr_Clear();  // nothing is in it yet
        } else {
          values.append(nb::steal(value));
        }
      }
    }
    return values;
  }

  // Holds no tensor: a number, a word, a class, a type of elements, a device.
  static bool is_plain(nb::handle value) {
    PyObject* object = value.ptr();
    return object == Py_None || PyLong_Check(object) || PyFloat_Check(object) ||
           PyComplex_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object) ||
           PyType_Check(object) || THPDtype_Check(object) || THPLayout_Check(object) ||
           THPDevice_Check(object) || THPMemoryFormat_Check(object);
  }

  // A tensor that is made anew at each question says nothing of the one that is computed with.
  static bool is_kept(nb::handle part, nb::handle again) {
    if (!is_tensor(part) || part.is(again)) return true;
    return is_tensor(again) && is_same_memory(unwrap(part), unwrap(again));
  }

  std::vector<at::Tensor> found_;
  int shown_ = 0;  // tensors met, but for those that hold themselves
  std::unordered_set<const PyObject*> open_;
  std::unordered_set<const PyObject*> met_;  // one may hold itself
  bool all_ = true;
  bool understood_ = true;  // the attributes that are looked through now
};

// It is the program's code that says what it wraps. If it says so when it is asked again, or what
// came out is no fault (Ctrl-C), the program gets that: see Stopping::ask.
Wrapped look_twice(nb::handle subclass) {
  const auto keep = [](nb::python_error& error) {
    Stopping::keep_interrupt(error.value().inc_ref().ptr());
  };
  try {
    return Unwrapping().look(subclass);
  } catch (nb::python_error& first) {
    const bool is_fault = first.matches(PyExc_Exception);
    try {
      Wrapped wrapped = Unwrapping().look(subclass);
      keep(first);
      return wrapped;
    } catch (nb::python_error& second) {
      if (!is_fault) keep(first);
      if (!second.matches(PyExc_Exception)) keep(second);
      return {};
    }
  }
}

}  // namespace

Wrapped wrapped_by(const at::Tensor& subclass) {
  const nb::gil_scoped_acquire gil;
  const Busy busy;
  Wrapped wrapped;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  try {
    const nb::object object = nb::steal(THPVariable_Wrap(subclass));
    if (object.is_valid()) wrapped = look_twice(object);
  } catch (const std::exception&) {  // it does not say
    wrapped = {};
  }
  PyErr_Restore(type, value, trace);
  return wrapped;
}

}  // namespace nanscope::torch_adapter
