#include "adapters/torch/binding/noted_method.h"

#include <structmember.h>

#include <cstddef>
#include <exception>

#include "adapters/torch/binding/python_objects.h"

namespace nanscope::torch_adapter {
namespace {

struct NotedMethod {
  PyObject_HEAD vectorcallfunc call;
  PyObject* original;
  Note note;
};

NotedMethod* of(PyObject* object) { return reinterpret_cast<NotedMethod*>(object); }

// False with an exception set.
bool tell(Note note, PyObject* tensor) {
  try {
    note(unwrap(tensor));
    return true;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return false;
}

PyObject* call_noted(PyObject* self, PyObject* const* args, std::size_t count, PyObject* names) {
  if (PyVectorcall_NARGS(count) > 0 && is_tensor(args[0]) && !tell(of(self)->note, args[0]))
    return nullptr;
  return PyObject_Vectorcall(of(self)->original, args, count, names);
}

PyObject* bind(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

PyObject* attribute(PyObject* self, PyObject* name) {
  return PyObject_GetAttr(of(self)->original, name);
}

void let_go(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(of(self)->original);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* noted_method_type() {
  static auto* const type = [] {
    // Copied into the type, all of it.
    PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(NotedMethod, call), READONLY, nullptr},
        {nullptr, 0, 0, 0, nullptr}};
    PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&let_go)},
                           {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                           {Py_tp_descr_get, reinterpret_cast<void*>(&bind)},
                           {Py_tp_getattro, reinterpret_cast<void*>(&attribute)},
                           {Py_tp_members, members},
                           {0, nullptr}};
    PyType_Spec spec = {"nanscope.NotedMethod", sizeof(NotedMethod), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                            Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        slots};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }();
  return type;
}

}  // namespace

nb::object noted_method(nb::object original, Note note) {
  PyTypeObject* type = noted_method_type();
  PyObject* made = type == nullptr ? nullptr : type->tp_alloc(type, 0);
  if (made == nullptr) throw nb::python_error();
  of(made)->call = &call_noted;
  of(made)->original = original.release().ptr();
  of(made)->note = note;
  return nb::steal(made);
}

}  // namespace nanscope::torch_adapter
