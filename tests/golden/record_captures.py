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
    a_dataset_row_with_an_empty_answer acos_of_1_0000002_from_float32_rounding
    adam_with_eps_0_and_an_embedding aggregation_buffer_allocated_with_empty_rows_without
    angular_softmax_layer_whose_weight_was_left beam_search_everything_banned
    clamp_1_1_before_acos_repairs_forward class_balanced_loss_empty_class classic_where_nan_then_log
    clip_grad_norm_turns_one_inf_gradient ctc_target_longer_than_the_input_sequence
    f_normalize_style_eps_1e_12_is fp16_mean_the_element_count_itself_overflows
    generalised_mean_pooling_x_pow_p_mean graphsage_mean_aggregation_with_an_isolated_node
    layernorm_of_a_zero_row_with_eps linear_regression_on_unscaled_inputs_diverges_with
    log_0_repaired_by_nan_to_num logsumexp_of_all_inf_forward_inf_backward
    missing_values_nan_in_the_middle_of naive_softmax_without_max_subtraction
    norm_spelled_as_pow_2_sum_pow residual_addition_overflows_fp16_although_both_summands
    torch_hypot_atan2_at_the_origin torch_where_x_0_sqrt_x_x variance_as_e_x_2_e_x
    wgan_gp_gradient_penalty_sqrt_of_a
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
import os, socket, sys
os.environ["OMP_NUM_THREADS"] = "1"
socket.gethostname = lambda: "node7"
from nanscope.run import process
class Os:
    getpid = staticmethod(lambda: 4242)
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
