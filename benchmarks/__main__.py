"""``python -m benchmarks``: every measurement that the README's tables come from, in turn."""

from benchmarks import batches_speed, loop_profile, prepare_speed, tokenize_speed, train_step

if __name__ == "__main__":
    for part in (train_step, loop_profile, prepare_speed, tokenize_speed, batches_speed):
        part.main()
