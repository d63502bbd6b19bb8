"""Figures of runs: gaps, radii and weights, step by step and rule by rule."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from mebnb.plots.looks import (
    ALGORITHM_STYLES,
    BALL,
    COLORS,
    PANEL,
    RULE_STYLES,
    legend_below,
    panel_grid,
    style,
)

__all__ = [
    "PANELS",
    "QUANTITIES",
    "against",
    "blending",
    "bounds",
    "by_set",
    "convergence",
    "counts_by_rule",
    "errors_and_gaps",
    "gaps_by_step",
    "in_panels",
    "line_search",
    "primal_and_dual",
    "rate_constant",
    "step_lengths",
]


@style()
def primal_and_dual(solution):
    """Squared enclosing radius and dual value closing on each other, and their gap.

    Parameters
    ----------
    solution : Solution
        With a trace.

    Returns
    -------
    matplotlib.figure.Figure
    """
    frame = solution.trace.to_frame()
    fig, (values, gap) = plt.subplots(1, 2, figsize=(2 * PANEL, 3.0))
    values.plot(frame["radius"] ** 2, color=COLORS["red"], label="primal: max $d_i$")
    values.plot(frame["gamma"], color=COLORS["blue"], ls="--", label=r"dual: $\gamma$")
    values.set_ylabel("squared units")
    values.legend()
    gap.semilogy(frame["fw_gap"].where(frame["fw_gap"] > 0), color=COLORS["black"])
    gap.set_ylabel("gap (squared units)")
    for ax in (values, gap):
        ax.set_xlabel("iteration")
    return fig


# --- convergence -------------------------------------------------------------------
PANELS = {
    "fw_gap": ("FW gap (squared units)", "log"),
    "relative_gap": ("FW gap / $\\gamma$", "log"),
    "objective": ("$\\gamma_* - \\gamma$ (squared units)", "log"),
    "gamma": ("dual value $\\gamma$", "linear"),
    "active": ("active-set size", "linear"),
}


@style()
def convergence(
    solutions,
    panels=("objective", "fw_gap", "active"),
    *,
    x="iteration",
    gamma=None,
    linear=False,
):
    """Traces of several algorithms, one panel a quantity.

    Parameters
    ----------
    solutions : dict of str -> Solution
        Keys name styles (see `ALGORITHM_STYLES`); each solution has a trace.
    panels : sequence of str
        "gamma", "objective" (gamma* - gamma), "fw_gap", "relative_gap", "active".
    x : str
        "iteration" or "seconds".
    gamma : float or None
        The optimal value gamma*, needed for "objective".
    linear : bool
        Linear axes throughout, as the report has them; no rate can be seen on these.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, axes = panel_grid(len(panels), height=2.7)
    for ax, panel in zip(axes, panels, strict=True):
        ylabel, scale = PANELS[panel]
        scale = "linear" if linear else scale
        for name, solution in solutions.items():
            frame = solution.trace.to_frame()
            values = _panel_values(frame, panel, gamma)
            positive = values > 0 if scale == "log" else np.isfinite(values)
            every = max(1, len(frame) // 8)
            ax.plot(
                frame[x][positive],
                values[positive],
                markevery=every,
                **ALGORITHM_STYLES[name].kwargs,
            )
        ax.set_yscale(scale)
        ax.set_xlabel("iteration" if x == "iteration" else "seconds")
        ax.set_ylabel(ylabel)
    legend_below(fig, axes)
    return fig


def _panel_values(frame, panel, gamma):
    if panel == "relative_gap":
        return (frame["fw_gap"] / frame["gamma"].where(frame["gamma"] > 0)).to_numpy()
    if panel == "objective":
        return (gamma - frame["gamma"]).to_numpy()
    return frame[panel].to_numpy(dtype=float)


# --- gaps and rates ----------------------------------------------------------------
@style()
def bounds(solution, optimum):
    """How the dual value and the enclosing radius close in on the optimum.

    Left: gamma and gamma + gap, between which r*^2 lies. Right, on a log axis: the gap
    beside the error gamma* - gamma that it bounds.

    Parameters
    ----------
    solution : Solution
        With a trace.
    optimum : float
        gamma* = r*^2.

    Returns
    -------
    matplotlib.figure.Figure
    """
    frame = solution.trace.to_frame()
    t, gamma, gap = frame["iteration"], frame["gamma"], frame["fw_gap"]
    fig, (left, right) = plt.subplots(1, 2, figsize=(2 * PANEL, 3.0))
    left.fill_between(t, gamma, gamma + gap, color=COLORS["sky"], alpha=0.3, lw=0)
    left.plot(t, gamma + gap, color=COLORS["red"], label="$\\gamma$ + gap")
    left.plot(t, gamma, color=COLORS["blue"], label="$\\gamma$")
    left.axhline(optimum, color=BALL, ls="--", lw=1.2, label="$r_*^2$")
    left.set_ylabel("squared radius")
    error = optimum - gamma
    right.plot(t, gap, color=COLORS["red"], label="FW gap")
    right.plot(
        t[error > 0],
        error[error > 0],
        color=COLORS["blue"],
        ls="--",
        label="error $\\gamma_* - \\gamma$",
    )
    right.set_yscale("log")
    right.set_ylabel("squared units")
    for ax in (left, right):
        ax.set_xlabel("iteration")
        ax.legend()
    return fig


QUANTITIES = {
    "relative_gap": ("FW gap / $\\gamma$", "log"),
    "active": ("active-set size", "linear"),
}


@style()
def by_set(
    runs,
    quantity="relative_gap",
    *,
    xscale="linear",
    fit_band=None,
    guide=None,
    styles=ALGORITHM_STYLES,
):
    """One quantity over the iterations, one panel a set, one line a run.

    A linear axis ends soon after the longest run that converged.

    Parameters
    ----------
    runs : dict of str -> dict of str -> Solution
        runs[set][style key], each with a trace.
    quantity : str
        "relative_gap" (on a log axis) or "active".
    xscale : str
        "linear", where a straight gap is a linear rate, or "log", where it is a power.
    fit_band : (float, float) or None
        Draw the line fitted to log gap on t where the gap lies in this band.
    guide : float or None
        Draw t^guide, for the eye.
    styles : mapping of str -> style

    Returns
    -------
    matplotlib.figure.Figure
    """
    ylabel, yscale = QUANTITIES[quantity]
    fig, axes = panel_grid(len(runs), height=2.9)
    for ax, (label, solutions) in zip(axes, runs.items(), strict=True):
        for name, solution in solutions.items():
            t, values = _over_iterations(solution.trace, quantity)
            shown = np.isfinite(values) & (t > 0)
            ax.plot(
                t[shown],
                values[shown],
                markevery=_spread_out(int(shown.sum()), xscale),
                **styles[name].kwargs,
            )
            if fit_band is not None:
                _fitted_line(ax, solution.trace, *fit_band)
        if guide is not None:
            t = np.geomspace(1, max(len(s.trace) for s in solutions.values()), 50)
            name = f"$t^{{{guide:g}}}$"
            ax.plot(t, t**guide, color=BALL, lw=0.8, ls="--", label=name)
        ax.set_xscale(xscale)
        ax.set_yscale(yscale)
        if quantity == "active":
            ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        done = [s.iterations for s in solutions.values() if s.converged]
        if xscale == "linear" and done:
            ax.set_xlim(-0.05 * max(done), 1.4 * max(done))
        ax.set_title(label)
        ax.set_xlabel("iteration")
        ax.set_ylabel(ylabel)
    legend_below(fig, axes)
    return fig


@style()
def errors_and_gaps(panels, styles=RULE_STYLES, powers=(-1, -2), xscale="log"):
    """Primal error beside the gap over the iterations, one panel a set.

    Parameters
    ----------
    panels : dict of str -> dict of str -> DataFrame
        panels[title][style key], with columns error and gap, a row an iterate.
    styles : mapping of str -> style
    powers : sequence of int
        Of the iteration, drawn as a dashed and a dotted line.
    xscale : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, axes = panel_grid(len(panels), height=2.9)
    for ax, (title, frames) in zip(axes, panels.items(), strict=True):
        for name, frame in frames.items():
            look = styles[name]
            t = np.arange(1.0, len(frame))
            gap, error = (frame[column].to_numpy()[1:] for column in ("gap", "error"))
            ax.plot(
                t, gap, color=look.color, lw=0.6, alpha=0.5, label=f"{look.label}: gap"
            )
            ax.plot(t, error, color=look.color, lw=2.0, label=f"{look.label}: error")
        for power, line in zip(powers, ("--", ":"), strict=False):
            label = f"$t^{{{power}}}$"
            ax.plot(t, t**power, color=BALL, lw=0.9, ls=line, label=label)
        ax.set_xscale(xscale)
        ax.set_yscale("log")
        ax.set_title(title)
        ax.set_xlabel("iteration")
        ax.set_ylabel("relative to $\\gamma_*$")
    legend_below(fig, axes)
    return fig


@style()
def rate_constant(panels):
    """Error times t, beside half the gap over the error, one panel a set.

    Parameters
    ----------
    panels : dict of str -> DataFrame
        With columns error and gap, relative to gamma*, a row an iterate.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, axes = panel_grid(len(panels), height=2.6)
    for ax, (title, frame) in zip(axes, panels.items(), strict=True):
        t = np.arange(1.0, len(frame))
        error, gap = (frame[column].to_numpy()[1:] for column in ("error", "gap"))
        label = "gap / (2 error)"
        ax.plot(t, gap / (2.0 * error), color=COLORS["sky"], lw=0.5, label=label)
        label = "t error / $\\gamma_*$"
        ax.plot(t, t * error, color=COLORS["red"], lw=2.2, label=label)
        ax.axhline(1.0, color=BALL, lw=0.9, ls="--", label="1")
        ax.set_xscale("log")
        ax.set_ylim(0.0, 2.0)
        ax.set_title(title)
        ax.set_xlabel("iteration")
    legend_below(fig, axes)
    return fig


@style()
def gaps_by_step(runs, tol=None):
    """Gap against iteration on log axes, one panel a step rule (slides, Figures 2 to 5).

    The gap is not monotone: it is drawn thin, and the smallest one so far on top.

    Parameters
    ----------
    runs : dict of str -> dict of str -> Solution
        runs[step rule][style key], each with a trace.
    tol : float or None
        Where the runs stop, drawn as a line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, axes = panel_grid(len(runs), height=2.9)
    for ax, (step, solutions) in zip(axes, runs.items(), strict=True):
        for name, solution in solutions.items():
            gap = np.array(solution.trace.fw_gap)
            t = np.arange(1, gap.size + 1)
            look = ALGORITHM_STYLES[name]
            ax.plot(t, gap, color=look.color, lw=0.5, alpha=0.25)
            every = _spread_out(gap.size, "log")
            lowest = np.minimum.accumulate(gap)
            ax.plot(t, lowest, markevery=every, **look.kwargs)
        if tol is not None:
            ax.axhline(tol, color=BALL, lw=0.8, ls=":", label=f"tolerance {tol:g}")
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(f"{step} step")
        ax.set_xlabel("gap evaluation")
        ax.set_ylabel("FW gap (squared units)")
    legend_below(fig, axes)
    return fig


@style()
def in_panels(
    panels,
    xlabel,
    ylabel,
    *,
    guides=None,
    xscale="log",
    yscale="log",
    styles=ALGORITHM_STYLES,
):
    """Measured values against a parameter, one panel a set or quantity, one line a run.

    A linear axis of counts has whole numbers only.

    Parameters
    ----------
    panels : dict of str -> dict of str -> (x, y)
        panels[title][style key].
    xlabel : str
    ylabel : str or dict of str -> str
        The latter by title.
    guides : dict of str -> callable or None
        Label -> y as a function of x, drawn thin in every panel.
    xscale, yscale : str
    styles : mapping of str -> style

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, axes = panel_grid(len(panels), height=2.9)
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        for name, (x, y) in lines.items():
            ax.plot(x, y, **styles[name].kwargs)
        every = np.concatenate([np.asarray(x, float) for x, _ in lines.values()])
        span = np.geomspace(every.min(), every.max(), 50)
        for label, function in (guides or {}).items():
            ax.plot(span, function(span), color=BALL, lw=0.8, ls="--", label=label)
        ax.set_xscale(xscale)
        ax.set_yscale(yscale)
        for axis, scale, at in ((ax.xaxis, xscale, 0), (ax.yaxis, yscale, 1)):
            counted = all(
                np.equal(np.mod(line[at], 1), 0).all() for line in lines.values()
            )
            if scale == "linear" and counted:
                axis.set_major_locator(MaxNLocator(integer=True))
        ax.set_title(title)
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel if isinstance(ylabel, str) else ylabel[title])
    legend_below(fig, axes)
    return fig


def _over_iterations(trace, quantity):
    values = trace.relative_gaps() if quantity == "relative_gap" else trace.active
    values = np.array(values, dtype=float)
    return np.arange(values.size), values


def _spread_out(count, scale):
    """About eight markers along a line, evenly on its axis."""
    if scale == "linear" or count < 2:
        return max(1, count // 8)
    return sorted({int(k) - 1 for k in np.geomspace(1, count, 8)})


def _fitted_line(ax, trace, above, below):
    factor, _ = trace.linear_rate(above, below)
    gap = np.minimum.accumulate(trace.relative_gaps())
    t = np.flatnonzero((gap >= above) & (gap <= below))
    if t.size > 2 and factor > 0:
        middle = np.log(gap[t]).mean()
        line = np.exp(middle + np.log(factor) * (t - t.mean()))
        ax.plot(t, line, color=BALL, lw=0.9, zorder=5, label="fit, log gap on t")


@style()
def blending(frame):
    """The two sides of the blending test over the iterations, and who won.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `studies.blending_gaps`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, ax = plt.subplots(figsize=(2 * PANEL, 3.4))
    t, local = frame.index, frame["local"].where(frame["local"] > 0)
    ax.plot(t, local, color=COLORS["purple"], lw=1.2, label="local pairwise gap")
    ax.plot(t, frame["fw_gap"], color=BALL, lw=1.2, ls="--", label="FW gap")
    looks = {
        "FW": ("v", COLORS["grey"], "FW step: a point may come in"),
        "drop": ("X", COLORS["red"], "drop step: a point goes"),
    }
    for kind, (marker, color, label) in looks.items():
        rows = frame[frame["next"] == kind]
        ax.plot(
            rows.index,
            rows["fw_gap"],
            marker=marker,
            color=color,
            ms=7,
            ls="",
            label=label,
        )
    ax.set_yscale("log")
    ax.set_xlabel("iteration")
    ax.set_ylabel("gap (squared units)")
    legend_below(fig, [ax])
    return fig


@style()
def counts_by_rule(frame):
    """Iteration counts of repeated runs, one dot a run, one row a rule.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns rule, algorithm (style key) and iterations.

    Returns
    -------
    matplotlib.figure.Figure
    """
    rules = list(dict.fromkeys(frame["rule"]))
    algorithms = list(dict.fromkeys(frame["algorithm"]))
    fig, ax = plt.subplots(figsize=(2 * PANEL, 0.8 * len(rules) + 1.6))
    for shift, name in zip(
        np.linspace(-0.24, 0.24, len(algorithms)), algorithms, strict=True
    ):
        rows = frame[frame["algorithm"] == name]
        look = ALGORITHM_STYLES[name]
        height = rows["rule"].map(rules.index) + shift
        ax.plot(
            rows["iterations"],
            height,
            color=look.color,
            marker=look.marker,
            ls="",
            alpha=0.5,
            label=look.label,
        )
    ax.set_yticks(range(len(rules)), rules)
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.set_xlabel("iterations")
    legend_below(fig, [ax])
    return fig


@style()
def line_search(panels, rules):
    """Where step rules end on the parabola along a direction, one panel a line.

    Parameters
    ----------
    panels : dict of str -> Line
    rules : dict of str -> StepRule
        Keys name `RULE_STYLES`; ready for the points.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, axes = panel_grid(len(panels), height=2.7)
    for ax, (title, line) in zip(axes, panels.items(), strict=True):
        steps = np.linspace(0.0, 1.12 * line.largest, 200)
        grey = {"color": COLORS["grey"], "lw": 1.2}
        ax.plot(steps, [line.change(step) for step in steps], **grey)
        ax.axvline(line.largest, ls="--", **grey)
        # Smaller and smaller: of rules that end alike each is seen.
        sizes = np.linspace(12, 5, len(rules))
        for (name, rule), size in zip(rules.items(), sizes, strict=True):
            step, look = rule(line), RULE_STYLES[name]
            ax.plot(
                step,
                line.change(step),
                color=look.color,
                marker=look.marker,
                ms=size,
                ls="",
                label=look.label,
            )
        ax.set_title(title)
        ax.set_xlabel("step length (dashed: the largest)")
        ax.set_ylabel("change of $f$ (squared units)")
    legend_below(fig, axes)
    return fig


SMALLEST_STEP = 1e-20  # what is shorter moves no weight that is stored in 53 bits


@style()
def step_lengths(solutions, styles=RULE_STYLES):
    """Step length over the iterations on a log axis, one panel a run.

    An axis ends where steps are too short to move a weight.

    Parameters
    ----------
    solutions : dict of str -> Solution
        Keys name styles; each with a trace.
    styles : mapping of str -> style

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, axes = panel_grid(len(solutions), height=2.6)
    for ax, (name, solution) in zip(axes, solutions.items(), strict=True):
        steps = np.array(solution.trace.step, dtype=float)
        drops = np.array(solution.trace.kind) == "drop"
        t = np.arange(steps.size)
        for chosen, marker, size, color, label in (
            (~drops, ".", 4, styles[name].color, "step"),
            (drops, "o", 7, BALL, "drop step"),
        ):
            chosen = chosen & (steps > 0)
            look = {"color": color, "marker": marker, "ms": size, "mfc": "none"}
            ax.plot(t[chosen], steps[chosen], ls="", label=label, **look)
        ax.set_yscale("log")
        low, high = np.nanmin(steps[steps > 0]), np.nanmax(steps)
        if high < 10.0 * low:
            ax.set_ylim(low / 10.0, high * 10.0)
        elif low < SMALLEST_STEP:
            ax.set_ylim(SMALLEST_STEP, high * 10.0)
        ax.set_title(styles[name].label)
        ax.set_xlabel("iteration")
        ax.set_ylabel("step length")
    axes[0].legend(loc="best")
    return fig


@style()
def against(frame, x, y, group, styles, *, guide=None, lines=False):
    """One column against another on log axes, one marker a group.

    Parameters
    ----------
    frame : pandas.DataFrame
    x, y : dict of one column -> its axis label
    group : str
        Column whose values name styles.
    styles : mapping of str -> style
    guide : float or None
        Draw y = guide * x, for the eye.
    lines : bool
        Join the points of a group, in the order of x.

    Returns
    -------
    matplotlib.figure.Figure
    """
    (x, xlabel), (y, ylabel) = *x.items(), *y.items()
    fig, ax = plt.subplots(figsize=(6.4, 4.0))
    for name, rows in frame.groupby(group, sort=False):
        rows = rows.sort_values(x)
        look = styles[name].kwargs | ({} if lines else {"linestyle": ""})
        ax.plot(rows[x], rows[y], **look)
    if guide is not None:
        ends = np.array([frame[x].min(), frame[x].max()])
        label = "y = x" if guide == 1 else f"y = {guide:g} x"
        ax.plot(ends, guide * ends, color=BALL, lw=0.8, ls="--", label=label)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    legend_below(fig, [ax])
    return fig
