// The command line: what was asked for, as plain objects.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "adapters/python/module.h"
#include "adapters/python/native.h"
#include "cli/cli.h"

namespace nb = nanobind;

namespace nanscope::python {
namespace {

const char* word(RunRequest::Kind kind) {
  switch (kind) {
    case RunRequest::Kind::kScript:
      return "script";
    case RunRequest::Kind::kModule:
      return "module";
    case RunRequest::Kind::kCode:
      return "code";
  }
  return "";
}

std::optional<Native> native(const std::optional<std::string>& text) {
  return text ? std::optional(Native{*text}) : std::nullopt;
}

std::vector<Native> native(const std::vector<std::string>& texts) {
  std::vector<Native> result;
  for (const std::string& text : texts) result.push_back({text});
  return result;
}

std::vector<std::string> plain(const std::vector<Native>& texts) {
  std::vector<std::string> result;
  for (const Native& text : texts) result.push_back(text.bytes);
  return result;
}

nb::bytes bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

void add_requests(nb::module_& module) {
  nb::class_<RunRequest>(module, "RunRequest", "A program to run, and how to watch it.")
      .def_prop_ro(
          "kind", [](const RunRequest& self) { return word(self.kind); }, "script, module or code")
      .def_prop_ro(
          "target", [](const RunRequest& self) { return Native{self.target}; },
          "path, module name, or code")
      .def_prop_ro("args", [](const RunRequest& self) { return native(self.args); })
      .def_prop_ro("output", [](const RunRequest& self) { return native(self.output); })
      .def_prop_ro("json", [](const RunRequest& self) { return native(self.json); })
      .def_prop_ro("html", [](const RunRequest& self) { return native(self.html); })
      .def_ro("force", &RunRequest::force)
      .def_ro("keep_going", &RunRequest::keep_going)
      .def_ro("raise_", &RunRequest::raise)
      .def_ro("strict", &RunRequest::strict)
      .def_ro("pdb", &RunRequest::pdb)
      .def_ro("eager", &RunRequest::eager)
      .def_ro("steps", &RunRequest::steps)
      .def_ro("sentinel", &RunRequest::sentinel)
      .def_ro("mode_given", &RunRequest::mode_given)
      .def_prop_ro("allow", [](const RunRequest& self) { return native(self.allow); })
      .def_prop_ro("bad_batch", [](const RunRequest& self) { return native(self.bad_batch); })
      .def_prop_ro("notify", [](const RunRequest& self) { return native(self.notify); })
      .def_ro("snapshot_every_s", &RunRequest::snapshot_every_s)
      .def_prop_ro("layer", [](const RunRequest& self) { return Native{self.layer}; })
      .def_prop_ro("file", [](const RunRequest& self) { return Native{self.file}; })
      .def_ro("nproc", &RunRequest::nproc)
      .def_ro("no_follow", &RunRequest::no_follow)
      .def_ro("quiet", &RunRequest::quiet)
      .def_ro("verbose", &RunRequest::verbose)
      .def_ro("color", &RunRequest::color);

  nb::class_<FixRequest>(module, "FixRequest", "A program to fix, and how far to go for it.")
      .def_ro("run", &FixRequest::run)
      .def_prop_ro("from_", [](const FixRequest& self) { return native(self.from); })
      .def_ro("verify", &FixRequest::verify)
      .def_ro("max_runs", &FixRequest::max_runs)
      .def_ro("max_time", &FixRequest::max_time)
      .def_ro("max_fixes", &FixRequest::max_fixes)
      .def_ro("yes", &FixRequest::yes)
      .def_ro("in_packages", &FixRequest::in_packages)
      .def_ro("apply", &FixRequest::apply);

  nb::class_<ReplayRequest>(module, "ReplayRequest", "A kept step to meet again.")
      .def_prop_ro("folder", [](const ReplayRequest& self) { return Native{self.folder}; })
      .def_ro("run", &ReplayRequest::run)
      .def_ro("yes", &ReplayRequest::yes);
}

}  // namespace

void add_command_line(nb::module_& module) {
  nb::class_<Terminal>(module, "Terminal", "What the caller knows about where the output goes.")
      .def(nb::init<>())
      .def_rw("columns", &Terminal::columns)
      .def_rw("stdout_is_tty", &Terminal::stdout_is_tty)
      .def_rw("stderr_is_tty", &Terminal::stderr_is_tty)
      .def_rw("no_color", &Terminal::no_color);

  add_requests(module);

  nb::class_<Outcome>(module, "Outcome", "What a command line came to.")
      .def_ro("status", &Outcome::status)
      .def_prop_ro(
          "out", [](const Outcome& self) { return bytes(self.out); }, "for stdout")
      .def_prop_ro(
          "err", [](const Outcome& self) { return bytes(self.err); }, "for stderr")
      .def_ro("run", &Outcome::run)
      .def_ro("fix", &Outcome::fix)
      .def_ro("replay", &Outcome::replay)
      .def_ro("doctor", &Outcome::doctor)
      .def_ro("self_test", &Outcome::self_test)
      .def_ro("device", &Outcome::device)
      .def_ro("mcp", &Outcome::mcp)
      .def_ro("quiet", &Outcome::quiet)
      .def_ro("verbose", &Outcome::verbose)
      .def_ro("color", &Outcome::color);

  module.def(
      "command_line",
      [](const std::vector<Native>& argv, const Terminal& terminal) {
        return nanscope::command_line(plain(argv), terminal);
      },
      nb::arg("argv"), nb::arg("terminal"), nb::call_guard<nb::gil_scoped_release>());

  module.def(
      "default_capture_name",
      [](const RunRequest& request, std::int64_t pid) {
        return Native{nanscope::default_capture_name(request, pid)};
      },
      nb::arg("request"), nb::arg("pid"));
}

}  // namespace nanscope::python
