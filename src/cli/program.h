// The program to run, on the command line of `run` and `fix`.
//
// As for python, options stand before the program, and all that follows the program's name
// is the program's own, whatever it looks like. So the arguments are split there
// first, and only the front part is parsed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/option_list.h"
#include "cli/options.h"

namespace nanscope::cli {

[[nodiscard]] bool exists(const std::string& path);

// Where the options end and the program begins.
[[nodiscard]] std::size_t program_begins(const OptionList& app, const Arguments& arguments);

void take_manner(const Manner& manner, const Terminal& terminal, RunRequest& request);

// These say what is wrong, or nothing.
[[nodiscard]] std::string take_program(Arguments program, RunRequest& request);
[[nodiscard]] std::string take_count(const Option& option, const std::string& text,
                                     std::optional<std::int64_t>& count, std::int64_t least = 1);
[[nodiscard]] std::string check_json(const RunRequest& request);
[[nodiscard]] std::string check_html(const RunRequest& request);

}  // namespace nanscope::cli
