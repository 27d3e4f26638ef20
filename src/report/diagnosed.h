// A capture with the causes of its findings: what every format is written from.
#pragma once

#include <string>
#include <vector>

#include "diagnose/catalogue.h"
#include "records/capture.h"

namespace nanscope {

struct Diagnosed {
  Capture capture;
  std::vector<Cause> causes;  // one for each finding
  std::string name;           // of the file, as it was given; empty if there is none
};

[[nodiscard]] inline Diagnosed diagnosed(Capture capture, std::string name = {}) {
  Diagnosed result{std::move(capture), {}, std::move(name)};
  for (const Finding& finding : result.capture.findings) result.causes.push_back(diagnose(finding));
  return result;
}

}  // namespace nanscope
