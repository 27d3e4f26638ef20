// What python/nanscope/compiled asks of the adapter: Note [Compiled regions].
#pragma once

#include <nanobind/nanobind.h>

namespace nanscope::torch_adapter {

void add_compiled(nanobind::module_& module);

}  // namespace nanscope::torch_adapter
