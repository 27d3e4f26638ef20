// The frame seam as a Python module of its own: what it sees, for test_python_frame.py.
#include "adapters/seams/python_frame.h"

namespace {

using namespace nanscope;

// [(code, lasti, first local or None)], innermost first; read without the GIL, as the adapter does.
PyObject* stack(PyObject*, PyObject*) {
  PythonFrame* frame = nullptr;
  Py_BEGIN_ALLOW_THREADS frame = innermost_frame();
  Py_END_ALLOW_THREADS PyObject* frames = PyList_New(0);
  for (; frame != nullptr; frame = back(frame)) {
    PyCodeObject* code = code_of(frame);
    PyObject* local = code->co_argcount > 0 ? local_of(frame, 0) : nullptr;
    PyObject* one = Py_BuildValue("(OiO)", code, lasti_of(frame), local ? local : Py_None);
    PyList_Append(frames, one);
    Py_DECREF(one);
  }
  return frames;
}

// The address of the running instruction of each frame: equal for equal places only.
PyObject* places(PyObject*, PyObject*) {
  PyObject* found = PyList_New(0);
  for (PythonFrame* frame = innermost_frame(); frame != nullptr; frame = back(frame)) {
    PyObject* place = PyLong_FromVoidPtr(const_cast<void*>(instruction_of(frame)));
    PyList_Append(found, place);
    Py_DECREF(place);
  }
  return found;
}

PyObject* call_hidden(PyObject*, PyObject* function) {
  PythonFrame*& innermost = innermost_slot(PyThreadState_Get());
  PythonFrame* below = innermost;
  innermost = nullptr;
  PyObject* result = PyObject_CallNoArgs(function);
  innermost = below;
  return result;
}

PyObject* finalizing(PyObject*, PyObject*) { return PyBool_FromLong(is_finalizing()); }

PyMethodDef methods[] = {{"stack", stack, METH_NOARGS, nullptr},
                         {"places", places, METH_NOARGS, nullptr},
                         {"call_hidden", call_hidden, METH_O, nullptr},
                         {"is_finalizing", finalizing, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "frame_probe", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_frame_probe() { return PyModule_Create(&module); }
