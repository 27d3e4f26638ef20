// The diagnosis as text for a person: five parts, then the coverage.
//
// First Bad Operation, Root Cause, Input Statistics, Fix, Verification: always in this
// order and under these names. Never wider than the terminal (but for the lines of a patch),
// sentences never wider than 100 columns; nothing in it can control the terminal except, if asked
// for, colour.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "records/capture.h"
#include "report/diagnosed.h"

namespace nanscope {

// What is said where there is no patch: who looks for one. A run has looked; within a block of the
// program nobody does, and `nanscope fix` cannot run that program with the block in it.
inline constexpr std::string_view kNoneProposed = "None is proposed; `nanscope fix` looks for one.";
inline constexpr std::string_view kNoneInABlock =
    "None is looked for here; `nanscope fix` looks for one in a run of the program without this "
    "watch.";
inline constexpr std::string_view kNoneInACell =
    "None is looked for here; `nanscope fix NOTEBOOK.ipynb` looks for one in the notebook as it "
    "was "
    "saved.";
inline constexpr std::string_view kNoneOfNumpy =
    "None is looked for here; `nanscope fix` knows programs with PyTorch.";

struct TextOptions {
  bool color = false;
  bool verbose = false;       // also: the whole way, the stack, all suspects, the notes
  std::size_t columns = 100;  // of the terminal; 60 to 200 are used
  std::string_view without_patch = kNoneProposed;
};

// All findings: errors in full, warnings in short, notes counted (listed if verbose), and
// the Coverage line. Without errors or warnings, the summary line alone.
[[nodiscard]] std::string text_report(const Capture& capture, const TextOptions& options);
[[nodiscard]] std::string text_report(const Diagnosed& diagnosed, const TextOptions& options);
// The five parts of one finding.
[[nodiscard]] std::string text_of(const Finding& finding, const TextOptions& options);
// Two lines: "warning: train.py:41:18: aten::exp made inf", and why.
[[nodiscard]] std::string headline_of(const Finding& finding, const TextOptions& options);

}  // namespace nanscope
