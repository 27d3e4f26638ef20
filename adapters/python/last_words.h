// A signal that would end the process is given a moment for what is known.
//
// The handlers lie below Python's: signal.getsignal() still answers SIG_DFL, and a program
// that sets a handler of its own takes ours away. The words are said on a thread that sleeps
// until then, since the main one may be inside a long call.
#pragma once

#include <nanobind/nanobind.h>

namespace nanscope::python {

// `say` is given the signal's number. It returns the status to end with, or None: then the
// process dies of the signal, as it would have. Once per process.
void have_last_words(nanobind::object say);
// Threads do not survive a fork: a child that is Python's own asks for them again.
void last_words_in_child();
// The thread that waits for them ends: in a process that ends with its last thread.
void end_last_words();
// The end is near anyway: signals end the process at once again.
void no_last_words();

}  // namespace nanscope::python
