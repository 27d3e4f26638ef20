// The plain program for those without Python: the readers of captures.

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cli/cli.h"

namespace {

nanscope::Terminal this_terminal() {
  nanscope::Terminal terminal;
  terminal.stdout_is_tty = ::isatty(STDOUT_FILENO) != 0;
  terminal.stderr_is_tty = ::isatty(STDERR_FILENO) != 0;
  const char* no_color = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  terminal.no_color = (no_color != nullptr && *no_color != '\0') ||
                      (kind != nullptr && std::string_view(kind) == "dumb");
  winsize size{};
  if (terminal.stdout_is_tty && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
    terminal.columns = size.ws_col;
  return terminal;
}

}  // namespace

int main(int argc, char** argv) {
  const nanscope::Outcome outcome = nanscope::command_line({argv, argv + argc}, this_terminal());
  std::fwrite(outcome.out.data(), 1, outcome.out.size(), stdout);
  std::fwrite(outcome.err.data(), 1, outcome.err.size(), stderr);
  if (outcome.run || outcome.fix || outcome.doctor) {
    std::fputs(
        "nanscope: this verb needs the Python package; the plain program only reads captures.\n",
        stderr);
    return 125;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return 1;
  return outcome.status;
}
