// A finding that Python put together from what NumPy tells: diagnosed and told like any other.

#include <nanobind/stl/optional.h>

#include "adapters/python/module.h"
#include "adapters/python/native.h"
#include "adapters/python/read_site.h"
#include "capture/reader.h"
#include "capture/writer.h"
#include "diagnose/cause.h"
#include "report/json.h"
#include "report/text.h"

namespace nb = nanobind;

namespace nanscope::python {
namespace {

OriginKind kind_from(const std::string& word) {
  if (word == "imported") return OriginKind::kImported;
  return word == "uninitialised" ? OriginKind::kUninitialised : OriginKind::kBirth;
}

Value value_from(nb::handle number) {
  if (PyComplex_Check(number.ptr()) != 0) {
    return {PyComplex_RealAsDouble(number.ptr()), PyComplex_ImagAsDouble(number.ptr()), true};
  }
  return {nb::cast<double>(number), 0, false};
}

TensorFacts facts_from(nb::handle object) {
  TensorFacts facts;
  facts.name = field<std::string>(object, "name");
  facts.argument = field<std::string>(object, "argument");
  facts.dtype = field<std::string>(object, "dtype");
  facts.shape = field<std::vector<std::int64_t>>(object, "shape");
  facts.statistics = field<Statistics>(object, "statistics");
  facts.remark = field<std::string>(object, "remark");
  for (nb::handle number : nb::object(object["at_index"]))
    facts.at_index.push_back(value_from(number));
  return facts;
}

Finding finding_from(nb::handle object) {
  Finding finding;
  Origin& origin = finding.origin;
  origin.kind = kind_from(field<std::string>(object, "kind"));
  origin.phase = Phase::kData;
  origin.op = field<std::string>(object, "op");
  origin.site = read_site(object["site"]);
  origin.stack = read_stack(nb::object(object["stack"]));
  origin.indices = field<std::vector<Index>>(object, "indices");
  origin.value = value_from(nb::object(object["value"]));
  origin.per_element = !origin.indices.empty();
  for (nb::handle input : nb::object(object["inputs"])) finding.inputs.push_back(facts_from(input));
  for (nb::handle output : nb::object(object["outputs"])) {
    finding.outputs.push_back(facts_from(output));
    const Statistics& s = finding.outputs.back().statistics;
    origin.nan = s.nan;
    origin.pos_inf = s.pos_inf;
    origin.neg_inf = s.neg_inf;
    origin.numel = s.numel;
  }
  const std::string flag = field<std::string>(object, "flag");
  if (!flag.empty()) finding.scalars.push_back({"flag", flag});
  for (nb::handle link : nb::object(object["read_by"])) {
    finding.chain.push_back({origin.op, origin.site, Phase::kData, Role::kBirth});
    finding.chain.push_back(
        {field<std::string>(link, "op"), read_site(link["site"]), Phase::kData, Role::kCarrier});
  }
  return finding;
}

Fix fix_from(nb::handle object) {
  return {.id = field<std::string>(object, "id"),
          .diff = field<std::string>(object, "diff"),
          .files = field<std::vector<std::string>>(object, "files"),
          .explanation = field<std::string>(object, "explanation"),
          .changes_training = field<bool>(object, "changes_training"),
          .workaround = field<bool>(object, "workaround"),
          .applied = field<bool>(object, "applied")};
}

Verification verification_from(nb::handle object) {
  return {.status = field<std::string>(object, "status"),
          .steps = field<std::int64_t>(object, "steps"),
          .healthy_steps_unchanged = field<std::optional<bool>>(object, "healthy_steps_unchanged"),
          .detail = field<std::string>(object, "detail"),
          .checks = field<std::vector<std::string>>(object, "checks")};
}

// What a capture holds, and what `fix` made of each of its first findings: (fix, verification).
nb::tuple report_of(const Native& path, nb::handle fixes, bool verbose, bool color) {
  const Result<Capture> read = read_capture(path.bytes);
  if (!read) throw nb::value_error(read.error().message.c_str());
  Patches patches;
  for (nb::handle pair : nb::object(nb::borrow(fixes))) {
    const nb::object fix = pair[0];
    const nb::object verification = pair[1];
    Patch& patch = patches.emplace_back();
    if (!fix.is_none()) patch.fix = fix_from(fix);
    if (!verification.is_none()) patch.verification = verification_from(verification);
  }
  const TextOptions options{.color = color, .verbose = verbose};
  return nb::make_tuple(json_report(read.value(), patches),
                        text_report(read.value(), options, patches));
}

}  // namespace

void add_findings(nb::module_& module) {
  module.def(
      "add_proposal",
      [](const Native& capture, nb::handle fix) {
        return add_proposal(capture.bytes, fix_from(fix)).ok();
      },
      nb::arg("capture"), nb::arg("fix"),
      nb::sig("def add_proposal(capture: str, fix: dict[str, object]) -> bool"),
      "A patch for the first error goes into a finished capture; False if it could not.");
  module.def("report", &report_of, nb::arg("capture"), nb::arg("fixes").none(),
             nb::arg("verbose") = false, nb::arg("color") = false,
             nb::sig("def report(capture: str, fixes: list[tuple[dict | None, dict | None]], "
                     "verbose: bool = False, color: bool = False) -> tuple[str, str]"),
             "The JSON and the text of a capture, with the fixes of its first findings.");
  module.def(
      "tell",
      [](nb::handle object, bool color) {
        const Finding finding = finding_from(object);
        return nb::make_tuple(json_finding(finding), text_of(finding, TextOptions{.color = color}));
      },
      nb::arg("finding"), nb::arg("color") = false,
      nb::sig("def tell(finding: dict[str, object], color: bool = False) -> tuple[str, str]"),
      "The JSON of a finding, and its five parts as text.");
}

}  // namespace nanscope::python
