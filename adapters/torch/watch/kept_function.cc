#include "adapters/torch/watch/kept_function.h"

#include <Python.h>

namespace nanscope::torch_adapter {

void KeptFunction::keep(PyObject* function) {
  Py_XINCREF(function);
  Py_XSETREF(function_, function);
}

}  // namespace nanscope::torch_adapter
