// A place in source code as Python describes it (the fields of source.Site), read into a record.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "records/site.h"

namespace nanscope::python {

template <class T>
T field(nanobind::handle object, const char* name) {
  return nanobind::cast<T>(object.attr("__getitem__")(name));
}

inline Site read_site(nanobind::handle object) {
  Site site;
  site.file = field<std::string>(object, "file");
  site.line = field<int>(object, "line");
  site.end_line = field<int>(object, "end_line");
  site.col = field<int>(object, "col");
  site.end_col = field<int>(object, "end_col");
  site.code = field<std::string>(object, "code");
  site.function = field<std::string>(object, "function");
  site.source = field<std::vector<std::string>>(object, "source");
  site.remark = field<std::string>(object, "remark");
  site.before = field<std::vector<std::string>>(object, "before");
  site.after = field<std::vector<std::string>>(object, "after");
  return site;
}

inline std::vector<Frame> read_stack(nanobind::handle frames) {
  std::vector<Frame> stack;
  for (nanobind::handle frame : nanobind::object(nanobind::borrow(frames))) {
    stack.push_back({nanobind::cast<std::string>(frame[0]), nanobind::cast<int>(frame[1]),
                     nanobind::cast<std::string>(frame[2]), nanobind::cast<bool>(frame[3])});
  }
  return stack;
}

}  // namespace nanscope::python
