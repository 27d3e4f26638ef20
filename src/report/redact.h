// What may not leave the house is left out, before any format is written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/diagnosed.h"

namespace nanscope {

struct Redaction {
  bool source = false;  // lines, expressions, names of variables, functions and modules, patches
  bool paths = false;   // folders, the command's arguments, the host
  bool values = false;  // every number that was computed from tensors; counts and shapes stay

  [[nodiscard]] std::vector<std::string> words() const;
};

// "source,paths"; an error names the word that is none of the three.
[[nodiscard]] Result<Redaction> redaction_of(std::string_view words);

// Causes are known already: a sentence with names or values in it becomes that of the catalogue.
void redact(const Redaction& redaction, Diagnosed& diagnosed);

}  // namespace nanscope
