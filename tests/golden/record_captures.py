"""Records the captures that the golden texts are made from: programs of tests/cases, watched.

    tests/golden/record_captures.py [WORD]      # only those whose name contains WORD

Run it when what a capture holds has changed; then UPDATE_GOLDEN=1 build/nanscope_tests writes the
texts. Look at the difference before it is committed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = """
    acos_above_one_by_rounding adam_without_eps_untouched_embedding all_labels_ignored
    angular_softmax_zero_weight beam_search_everything_banned clamp_before_acos_backward
    class_balanced_loss_empty_class classic_where_nan_then_log clip_grad_norm_spreads_inf
    ctc_target_longer_than_input empty_buffer_rows_never_written fp16_mean_count_overflows
    generalised_mean_pooling_dead_channel graphsage_mean_isolated_node hypot_atan2_at_origin
    layernorm_zero_row_fp16_eps linear_regression_diverges log_of_zero_nan_to_num_backward
    logsumexp_of_minus_inf_backward missing_values_in_training_table naive_softmax_overflows
    norm_by_powers_of_zero_vector normalize_eps_is_zero_in_fp16 residual_addition_overflows_fp16
    variance_by_cancellation wgan_gradient_penalty_sqrt_of_zero where_sqrt_of_negative
""".split()

# Larger programs, whose first proposal is compared (tests/fix/test_golden_diffs.py).
FIXES = """
    class_balanced_loss_empty_class checkpoint_nonreentrant_distance_block
    ctc_speech_short_utterance gan gpt_causal_masks gradient_accumulation graph_isolated_nodes
    lstm_padding moe_empty_expert_balance ppo resnet_batchnorm vae
    wgan_gradient_penalty_blank_image
""".split()

# A capture names the machine and the process; these are the same everywhere.
RUN = """
import os, sys, types
os.environ["OMP_NUM_THREADS"] = "1"
from nanscope.run import process
class Os:
    getpid = staticmethod(lambda: 4242)
    uname = staticmethod(lambda: types.SimpleNamespace(nodename="node7"))
    __getattr__ = lambda self, name: getattr(os, name)
process.os = Os()
from nanscope.__main__ import main
sys.argv = ["nanscope", "run", "-q", "-f", "-o", *sys.argv[1:]]
sys.exit(main())
"""


def main() -> None:
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    wanted = [("captures", case) for case in CASES] + [("fixes", case) for case in FIXES]
    for folder, case in wanted:
        if word in case:
            capture = f"tests/golden/{folder}/{case}.nsc"
            command = [sys.executable, "-c", RUN, capture, f"tests/cases/{case}.py"]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            print(case, done.returncode, done.stderr.strip()[-200:], flush=True)


if __name__ == "__main__":
    main()
