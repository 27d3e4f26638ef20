#include "adapters/torch/binding/python_new_ops.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "adapters/torch/binding/adapter.h"
#include "adapters/torch/binding/python_objects.h"
#include "adapters/torch/interpose/install.h"
#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/ops/op_table.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

void wrap_new_ops() {
  if (!watching) return;  // they are wrapped when the watch begins, or by the next call
  const Busy busy;
  sweep(Watcher::get().new_ops(), Watcher::get().other_devices());
}

// A library may have been loaded, and nobody has called what it brought.
void library_loaded() {
  NewOps& new_ops = Watcher::get().new_ops();
  if (!watching || !new_ops.has_new_libraries()) return;
  const Busy busy;
  wrap_unnoticed_kernels(new_ops, Watcher::get().other_devices(), /*called=*/false);
}

// impl(library, op, ...): op is "name.overload", with or without its namespace, or an object that
// torch.ops gave.
void note_kernel(nb::handle library, nb::handle op) {
  const auto space = nb::cast<std::string>(nb::object(library.attr("ns"))) + "::";
  std::string name = nb::isinstance<nb::str>(op)
                         ? nb::cast<std::string>(op)
                         : nb::cast<std::string>(nb::object(op.attr("name")()));
  if (name.find("::") == std::string::npos) name.insert(0, space);
  const std::size_t dot = name.find('.');
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  Watcher::get().new_ops().note({name.substr(0, dot), overload});
}

nb::object implement(const nb::args& args, const nb::kwargs& kwargs) {
  nb::object result = call(Adapter::get().originals().implement, args, kwargs);
  if (args.size() == 0) return result;
  if (args.size() > 1) {
    note_kernel(args[0], args[1]);
  } else if (kwargs.contains("op_name")) {
    note_kernel(args[0], nb::object(kwargs["op_name"]));
  }
  wrap_new_ops();
  return result;
}

}  // namespace

void add_new_ops(nb::module_& module) {
  module.def("take_library",
             [](nb::object original) { Adapter::get().keep_implement(std::move(original)); });
  module.def("implement", &implement);
  module.def("ops_with_rules", &ops_with_rules);
  module.def("is_hidden_write",
             [](const std::string& argument) { return is_hidden_write(argument); });
  module.def(
      "library_loaded",
      [](nb::object result) {
        library_loaded();
        return result;
      },
      nb::arg().none());
  module.def("wrap_new_ops", [](const nb::args&) { wrap_new_ops(); });
}

}  // namespace nanscope::torch_adapter
