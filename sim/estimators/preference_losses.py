"""Losses on pairs of a better and a worse completion, one number per pair, each with its derivative with respect to the
two log-probabilities. Nothing is sampled or trained here.

DPO: Rafailov et al. (2023), arXiv:2305.18290. IPO: Azar et al. (2023), arXiv:2310.12036. Hinge: Zhao et al. (2023),
arXiv:2305.10425. Robust: Chowdhury et al. (2024), arXiv:2403.00409. KTO: Ethayarajh et al. (2024), arXiv:2402.01306.
ORPO: Hong et al. (2024), arXiv:2403.07691. SimPO: Meng et al. (2024), arXiv:2405.14734. BCO: Jung et al. (2024),
arXiv:2404.04656. APO: D'Oosterlinck et al. (2024), arXiv:2408.06266. Names and forms are those of TRL 1.16.0.
"""

import numpy as np

from sim.estimators import bradley_terry
from sim.worlds.preferences import sigmoid


def implicit_reward(logp, ref_logp, beta):
    """The implicit reward β log π/π_ref: the reward for which the policy would be optimal, minus the prompt's
    β log Z.
    """
    return beta * (logp - ref_logp)


# Losses of the margin h: how many nats more the chosen completion has gained than the rejected one


def dpo(h, beta):
    """−log σ(βh), Bradley and Terry's loss for the reward βh, and its derivative with respect to h."""
    return bradley_terry.loss(beta * h), beta * bradley_terry.loss_slope(beta * h)


def ipo(h, beta):
    """(h − 1/2β)² and its derivative; β is the paper's τ. The push ends at a finite margin."""
    return (h - 0.5 / beta) ** 2, 2 * (h - 0.5 / beta)


def hinge(h, beta):
    """max(0, 1 − βh) and its derivative."""
    return np.maximum(0.0, 1 - beta * h), -beta * (beta * h < 1)


def robust(h, beta, flip):
    """DPO's loss minus what a fraction `flip` of wrong labels adds to it, so that its mean is that for clean labels."""
    clean, slope = dpo(h, beta)
    wrong, back = dpo(-h, beta)
    return ((1 - flip) * clean - flip * wrong) / (1 - 2 * flip), ((1 - flip) * slope + flip * back) / (1 - 2 * flip)


# Losses that treat the two completions separately


def bco_pair(gain_w, gain_l, beta):
    """−log σ(β gain_w) − log σ(−β gain_l), and its derivatives: chosen above the reference, rejected below it."""
    return (
        bradley_terry.loss(beta * gain_w) + bradley_terry.loss(-beta * gain_l),
        beta * bradley_terry.loss_slope(beta * gain_w),
        -beta * bradley_terry.loss_slope(-beta * gain_l),
    )


def apo_zero(gain_w, gain_l, beta):
    """1 − σ(β gain_w) + σ(β gain_l), and its derivatives: like `bco_pair`, but far from the reference the push ends."""
    up, down = sigmoid(beta * gain_w), sigmoid(beta * gain_l)
    return 1 - up + down, -beta * up * (1 - up), beta * down * (1 - down)


def orpo(logp_w, logp_l, len_w, len_l, lam):
    """−mean log π of the chosen tokens − lam log σ(log-odds ratio), and its derivatives. There is no reference.

    The first part is averaged over the tokens of the batch, as in TRL; the odds use mean log-probabilities.
    """
    mean_w, mean_l = logp_w / len_w, logp_l / len_l
    p_w, p_l = np.exp(mean_w), np.exp(mean_l)
    log_odds = mean_w - np.log1p(-p_w) - (mean_l - np.log1p(-p_l))
    loss, slope = dpo(log_odds, 1.0)
    imitation, up = imitate(logp_w, len_w)
    return imitation + lam * loss, up + lam * slope / (1 - p_w) / len_w, -lam * slope / (1 - p_l) / len_l


def imitate(logp_w, len_w):
    """Each pair's part of −mean log π over the batch's chosen tokens, and its derivative with respect to `logp_w`."""
    share = len(logp_w) / np.sum(len_w)
    return -logp_w * share, -share


MARGINS = dict(sigmoid=dpo, sigmoid_norm=dpo, ipo=ipo, hinge=hinge)
GAINS = dict(bco_pair=bco_pair, apo_zero=apo_zero)
WITHOUT_REFERENCE = ("simpo", "orpo")
NAMES = (*MARGINS, "robust", *GAINS, *WITHOUT_REFERENCE)


def pref_loss(
    name,
    logp_w,
    logp_l,
    ref_w,
    ref_l,
    len_w,
    len_l,
    beta,
    gamma=0.5,
    label_smoothing=0.0,
    length_normalize=False,
    cpo_alpha=0.0,
):
    """(loss, dL/dlogp_w, dL/dlogp_l) of each pair, (pairs,) each, for the loss that TRL calls `name`.

    `logp` and `ref` are sums over the tokens of the chosen (w) and the rejected (l) completion under the policy and the
    reference; `len` counts the tokens. `beta` is IPO's τ and ORPO's λ; `gamma` is SimPO's margin, and `label_smoothing`
    the fraction of wrong labels that robust assumes. `length_normalize` divides IPO's log-ratios by the numbers of
    tokens, as TRL does; without it, the form is the paper's. `cpo_alpha` is the weight that TRL's CPOTrainer gives to
    imitating the chosen completion beside SimPO; 1 is its default, 0 the paper's SimPO.
    """
    gain_w, gain_l = logp_w - ref_w, logp_l - ref_l
    if name == "orpo":
        return orpo(logp_w, logp_l, len_w, len_l, beta)
    if name in GAINS:
        return GAINS[name](gain_w, gain_l, beta)
    if name == "simpo":
        loss, slope = dpo(logp_w / len_w - logp_l / len_l - gamma / beta, beta)
        imitation, up = imitate(logp_w, len_w)
        return loss + cpo_alpha * imitation, slope / len_w + cpo_alpha * up, -slope / len_l
    if name == "robust":
        loss, slope = robust(gain_w - gain_l, beta, label_smoothing)
        return loss, slope, -slope
    if name == "sigmoid_norm" or (name == "ipo" and length_normalize):
        loss, slope = MARGINS[name](gain_w / len_w - gain_l / len_l, beta)
        return loss, slope / len_w, -slope / len_l
    loss, slope = MARGINS[name](gain_w - gain_l, beta)
    return loss, slope, -slope


def kto_loss(logp, ref, desirable, z0, beta, w_d=1.0, w_u=1.0):
    """(loss, dL/dlogp) of each completion labeled good (`desirable`) or bad, (completions,) each.

    `z0` is the policy's KL from the reference, at least 0 and without a gradient. Nothing cancels log Z for a single
    completion, and z0 takes its place. `w_d` and `w_u` are the weights of good and bad completions.
    """
    gain = np.where(desirable, 1.0, -1.0)
    kept = sigmoid(beta * gain * (logp - ref - z0))
    weight = np.where(desirable, w_d, w_u)
    return weight * (1 - kept), -weight * beta * gain * kept * (1 - kept)


# One pair, judged again and again


def dpo_optimum_pair(P, beta):
    """The margin at which DPO comes to rest on a pair that is won with probability P: logit(P)/β, infinite at 1."""
    with np.errstate(divide="ignore"):
        return (np.log(P) - np.log1p(-np.asarray(P, float))) / beta


def ipo_optimum_pair(P, tau):
    """The same for IPO: (2P − 1)/2τ, never more than 1/2τ."""
    return (2 * np.asarray(P, float) - 1) / (2 * tau)
