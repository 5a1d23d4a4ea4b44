"""One file an algorithm, its settings and six functions a file, in one order: the difference of two files is the
difference of two algorithms. The split follows verl's core_algos.py (Sheng et al. (2024), arXiv:2409.19256).

The contract of a file. `HP` holds what a run may set otherwise: `inner_epochs`, passes over a batch, and `beta`, the
weight of `kl_term`, in every file; `lam` asks for a critic. `MIN_K` is the fewest completions a prompt that its
advantage makes sense for. The six functions, for P prompts, K completions of each, N = P K rows and T tokens:

    shape_reward(reward, hp, batch)           what a completion is paid, (N,) -> (N,)
    keep_group(accuracy, hp, batch)           which groups are trained on, (P, K) -> (P,)
    advantage(R, hp, batch)                   who gets credit, (P, K) -> (P, K), or (P, K, T) token by token
    surrogate(logp, old_logp, A, hp, batch)   a token's objective and its slope, (N, T) each
    weights(mask, hp, batch)                  how much each token counts, (N, T)
    kl_term(logp, ref_logp, hp, batch)        a token's penalty and its slope, (N, T) each

First stands what the formula is about; then `hp`, the file's HP with what the run has set otherwise; then `batch`, the
rows at hand as far as the roles have filled them in (sim/framework/rollout.py). Both are read, never written to.
R is a shaped reward, A an advantage, `ratio` exp(logp - old_logp).
"""
