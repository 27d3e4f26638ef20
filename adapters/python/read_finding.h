// A finding that Python put together from what NumPy reports, read into a record.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "adapters/python/native.h"
#include "adapters/python/read_site.h"
#include "records/finding.h"
#include "records/words.h"

namespace nanscope::python {

namespace nb = nanobind;

inline OriginKind kind_from(const std::string& word) {
  const std::optional<OriginKind> kind = from_word<OriginKind>(word);
  if (!kind) throw nb::value_error(("no kind of origin is called " + word).c_str());
  return *kind;
}

inline Value value_from(nb::handle number) {
  if (PyComplex_Check(number.ptr()) != 0) {
    return {PyComplex_RealAsDouble(number.ptr()), PyComplex_ImagAsDouble(number.ptr()), true};
  }
  return {nb::cast<double>(number), 0, false};
}

inline TensorFacts facts_from(nb::handle object) {
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

inline Finding read_finding(nb::handle object) {
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

}  // namespace nanscope::python
