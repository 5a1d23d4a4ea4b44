"""One file per algorithm. Each holds its settings and the same six functions in the same order, so the diff between two
files is the difference between two algorithms. The split follows verl's core_algos.py (Sheng et al. (2024),
arXiv:2409.19256).

What a file contains: `HP` holds the settings that a run may override. Every file has `inner_epochs`, the number of
passes over a batch, and `beta`, the weight of `kl_term`; a file with `lam` asks for a critic. `MIN_K` is the smallest
number of completions per prompt for which the advantage makes sense. The six functions, for P prompts with K
completions each, N = P K rows and T tokens:

    shape_reward(reward, hp, batch)           the reward that each completion is trained on, (N,) -> (N,)
    keep_group(accuracy, hp, batch)           which groups are trained on, (P, K) -> (P,)
    advantage(R, hp, batch)                   who gets credit, (P, K) -> (P, K), or (P, K, T) for each token
    surrogate(logp, old_logp, A, hp, batch)   each token's objective and its slope, (N, T) each
    weights(mask, hp, batch)                  how much each token counts, (N, T)
    kl_term(logp, ref_logp, hp, batch)        each token's penalty and its slope, (N, T) each

The arguments of the formula come first. Then comes `hp`, the file's HP with the run's overrides, and last `batch`, the
rows as far as the roles have filled them in (sim/framework/rollout.py). The functions read both and never write to
them. R is a shaped reward, A an advantage, `ratio` is exp(logp - old_logp).
"""
