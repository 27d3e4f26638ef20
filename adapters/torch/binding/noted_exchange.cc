#include "adapters/torch/binding/noted_exchange.h"

#include <ATen/dlpack.h>

#include "adapters/torch/binding/adapter.h"
#include "adapters/torch/binding/observers.h"
#include "adapters/torch/binding/python_objects.h"

namespace nanscope::torch_adapter {
namespace {

constexpr const char* kName = "dlpack_exchange_api";

const DLPackExchangeAPI& original() { return *Adapter::get().originals().exchange; }

void note(void* object) noexcept {
  try {
    const nb::handle tensor(static_cast<PyObject*>(object));
    if (is_tensor(tensor) && unwrap(tensor).has_storage())
      observer().address_given(unwrap(tensor).storage());
  } catch (const std::exception&) {  // the program asked for the tensor, not for us
  }
}

int give(void* object, DLManagedTensorVersioned** out) {
  note(object);
  return original().managed_tensor_from_py_object_no_sync(object, out);
}

int show(void* object, DLTensor* out) {
  note(object);
  return original().dltensor_from_py_object_no_sync(object, out);
}

}  // namespace

nb::object noted_exchange(nb::object capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), kName) == 0) return capsule;
  const auto* table =
      static_cast<const DLPackExchangeAPI*>(PyCapsule_GetPointer(capsule.ptr(), kName));
  if (table->header.version.major != DLPACK_MAJOR_VERSION) return capsule;
  Adapter::get().keep_exchange(table);
  auto* noted = new DLPackExchangeAPI(*table);  // libraries keep its address for ever
  if (noted->managed_tensor_from_py_object_no_sync != nullptr)
    noted->managed_tensor_from_py_object_no_sync = &give;
  if (noted->dltensor_from_py_object_no_sync != nullptr)
    noted->dltensor_from_py_object_no_sync = &show;
  return nb::steal(PyCapsule_New(noted, kName, nullptr));
}

}  // namespace nanscope::torch_adapter
