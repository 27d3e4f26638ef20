#include "adapters/torch/binding/python_objects.h"

#include <nanobind/stl/string.h>
#include <torch/csrc/autograd/python_variable.h>

#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/world.h"

namespace nanscope::torch_adapter {

// By its type alone: no __instancecheck__ is asked, and what only says that it is one has none
// inside.
bool is_tensor(nb::handle object) {
  return PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(THPVariableClass)) != 0;
}
const at::Tensor& unwrap(nb::handle object) { return THPVariable_Unpack(object.ptr()); }

Tensors tensors_in(nb::handle sequence) {
  Tensors tensors;
  if (is_tensor(sequence)) return {unwrap(sequence)};
  for (nb::handle item : sequence) {
    if (is_tensor(item)) tensors.push_back(unwrap(item));
  }
  return tensors;
}

NamedTensors named_tensors_in(nb::handle pairs) {
  NamedTensors tensors;
  for (nb::handle pair : pairs) {
    if (is_tensor(pair[1]))
      tensors.emplace_back(TargetName{nb::cast<std::string>(pair[0])}, unwrap(nb::object(pair[1])));
  }
  return tensors;
}

Tensors parameters_of(nb::handle optimizer) {
  Tensors parameters;
  for (nb::handle group : nb::object(optimizer.attr("param_groups"))) {
    const nb::object of_group = group["params"];
    parameters.reserve(parameters.size() + nb::len_hint(of_group));
    for (nb::handle parameter : of_group) {
      if (is_tensor(parameter)) parameters.push_back(unwrap(parameter));
    }
  }
  return parameters;
}

namespace {

// visit(parameter, key, tensor)
template <class Visit>
void each_state(nb::handle optimizer, Visit visit) {
  const nb::object state = optimizer.attr("state");
  if (!nb::isinstance<nb::dict>(state)) return;
  for (auto [parameter, entry] : nb::borrow<nb::dict>(state)) {
    if (!nb::isinstance<nb::dict>(entry)) continue;
    for (auto [key, value] : nb::borrow<nb::dict>(entry)) {
      if (is_tensor(value)) visit(parameter, key, unwrap(value));
    }
  }
}

}  // namespace

NamedTensors suspects_in_state(nb::handle optimizer) {
  NamedTensors tensors;
  each_state(optimizer, [&](nb::handle parameter, nb::handle key, const at::Tensor& value) {
    if (!is_suspect(value)) return;
    TargetName name;
    if (is_tensor(parameter)) name = TorchWorld::named_by_storage(unwrap(parameter));
    name.text = nb::cast<std::string>(nb::str(key));
    tensors.emplace_back(std::move(name), value);
  });
  return tensors;
}

bool skips(nb::handle optimizer) {
  if (!nb::hasattr(optimizer, "found_inf")) return false;
  nb::object found = optimizer.attr("found_inf");
  if (found.is_none() || !is_tensor(found)) return false;
  const Busy busy;
  return nb::cast<double>(found.attr("item")()) > 0;
}

nb::object call(nb::handle function, nb::handle args, nb::handle kwargs) {
  PyObject* result = PyObject_Call(function.ptr(), args.ptr(), kwargs.ptr());
  if (result == nullptr) throw nb::python_error();
  return nb::steal(result);
}

std::string words_of(const nb::python_error& error) {
  try {
    const auto home = nb::cast<std::string>(nb::str(nb::handle(error.type().attr("__module__"))));
    if (home.starts_with("nanscope")) return "";
    return nb::cast<std::string>(nb::str(nb::handle(error.type().attr("__name__")))) + ": " +
           nb::cast<std::string>(nb::str(error.value()));
  } catch (const std::exception&) {
    return "";
  }
}

void add_state_of(nb::handle optimizer, Tensors& tensors) {
  each_state(optimizer,
             [&](nb::handle, nb::handle, const at::Tensor& value) { tensors.push_back(value); });
}

std::optional<double> learning_rate_of(nb::handle optimizer) {
  try {
    const Busy busy;  // it may be a tensor
    nb::object groups = optimizer.attr("param_groups");
    return nb::cast<double>(nb::float_(nb::object(groups[0]["lr"])));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace nanscope::torch_adapter
