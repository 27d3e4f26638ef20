// nanscope doctor: what will be watched here. Needs Python; parsed here only.

#include "cli/options.h"

namespace nanscope::cli {
namespace {

Outcome carry_out_doctor(const Arguments& arguments, const Terminal& terminal) {
  Options options(kDoctor, {"doctor [options]"},
                  "  nanscope doctor\n  nanscope doctor --self-test");
  bool self_test = false;
  std::string device;
  options.app().add_flag("--self-test", self_test,
                         "plant some twenty births, and see whether each is found on this machine");
  options.app()
      .add_option("--device", device,
                  "try everything on this device, and say whether it can be watched: cuda")
      ->type_name("NAME");
  if (std::optional<Outcome> answer = options.parse(arguments)) return *answer;
  return {.doctor = true,
          .self_test = self_test,
          .device = device,
          .quiet = options.manner().quiet,
          .verbose = options.manner().verbose,
          .color = terminal.stdout_is_tty && !terminal.no_color && !options.manner().no_color};
}

}  // namespace

const Verb kDoctor{"doctor",
                   "Says what is installed, what will be watched here, and what will not and why.",
                   carry_out_doctor};

}  // namespace nanscope::cli
