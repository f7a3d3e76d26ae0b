"""The page as one file, opened from the disk with the network off."""

import base64
import json
import sys

import numpy as np

TEXT = "Der Mann kocht, während die Frau liest."
ATTACK = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"


def weights(explanation, name):
    packed = explanation["attention"][name]
    data = np.frombuffer(base64.b64decode(packed["data"]), np.uint8)
    return data.reshape(packed["shape"])


def drawn(page, selector):
    """The light of each cell of a heat map, as the canvas has it."""
    pixels = page.evaluate(
        """selector => {
             const canvas = document.querySelector(selector);
             const { width, height } = canvas;
             const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
             return { width, height, data: [...data] };
           }""",
        selector,
    )
    rgba = np.array(pixels["data"]).reshape(pixels["height"], pixels["width"], 4)
    return rgba[:, :, :3] @ np.array([0.299, 0.587, 0.114])


def test_the_file_shows_the_translation_with_the_network_off(open_page, write_explanation):
    address, explanation = write_explanation(TEXT)
    page = open_page(address, offline=True)
    assert page.text_content("#translation") == explanation["target"]["text"]
    assert page.locator(".sentence.source button").count() == len(explanation["source"]["pieces"])
    assert page.locator(".links .link").count() == len(explanation["alignment"])
    assert page.is_visible("#still")
    assert page.is_hidden("#ask")
    assert page.requests_made == [address]


def test_the_heat_map_has_the_weights_in_their_order(open_page, write_explanation):
    address, explanation = write_explanation(TEXT)
    page = open_page(address, offline=True, color_scheme="light")
    page.click("[id='kind-encoder.self']")
    page.click("[aria-label^='layer 2, head 3']")
    expected = weights(explanation, "encoder.1.self")[2]
    found = drawn(page, ".cells canvas")
    assert found.shape == expected.shape
    # On paper the strongest weight is the darkest, and equal weights are equally dark.
    order = np.argsort(expected.ravel(), kind="stable")
    assert (np.diff(found.ravel()[order]) <= 1.5).all()
    assert found.ravel()[order][0] - found.ravel()[order][-1] > 100


def test_pointing_at_a_cell_says_what_looks_at_what(open_page, write_explanation):
    address, explanation = write_explanation(TEXT)
    page = open_page(address, offline=True)
    page.click("[id='kind-encoder.self']")
    page.click("[aria-label^='layer 1, head 1']")
    page.focus(".cells")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    share = weights(explanation, "encoder.0.self")[0, 1, 2] / 255
    pieces = [piece.lstrip("▁") or "space" for piece in explanation["source"]["pieces"]]
    said = page.text_content(".large .readout")
    assert said.startswith(f"“{pieces[1]}” looks at “{pieces[2]}”")
    number = (
        f"{100 * share:.1f}\u00a0%" if 0.1 <= 100 * share < 9.95 else f"{100 * share:.0f}\u00a0%"
    )
    assert number in said or "<\u00a00.1\u00a0%" in said


def test_another_choice_shows_the_continuation_that_is_in_the_file(open_page, write_explanation):
    address, explanation = write_explanation(TEXT)
    page = open_page(address, offline=True)
    page.click("#target-1")
    taken = explanation["target"]["pieces"][1]
    other = next(k for k, a in enumerate(explanation["alternatives"][1]) if a["piece"] != taken)
    page.click(f".choices li:nth-child({other + 1}) button")
    shown = page.locator("#changes .difference > :not(del)").all_text_contents()
    assert " ".join(shown) == " ".join(explanation["continuations"][1][other].split())
    page.click("#changes .chip")
    assert page.is_hidden("#changes")


def test_switching_a_head_off_shows_its_effect(open_page, write_explanation):
    address, explanation = write_explanation(TEXT)
    page = open_page(address, offline=True)
    page.click("[id='kind-decoder.self']")
    page.click("[aria-label^='layer 2, head 4']")
    page.click("#head-off")
    (effect,) = [
        e for e in explanation["head_effects"] if (e["name"], e["head"]) == ("decoder.1.self", 3)
    ]
    shown = page.text_content("#changes")
    assert "Decoder self-attention, layer 2, head 4: off" in shown
    assert f"{abs(effect['log_prob']):.2f}" in shown


def test_the_heads_that_matter_most_lead_to_their_pictures(open_page, write_explanation):
    address, explanation = write_explanation(TEXT)
    page = open_page(address, offline=True)
    worst = min(explanation["head_effects"], key=lambda effect: effect["log_prob"])
    page.locator(".weightiest button").first.click()
    assert page.text_content(".large-head code") == f"{worst['name']} [{worst['head']}]"


def test_no_text_in_the_file_becomes_markup(open_page, write_explanation):
    address, explanation = write_explanation(ATTACK + "\u2028" + ATTACK)
    page = open_page(address, offline=True)
    page.click("#tab-beam")
    page.click("#tab-flow")
    page.click("#target-0")
    assert page.text_content("#asked") == explanation["source"]["text"]
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img").count() == 0


def test_a_script_that_got_into_the_file_would_not_run(open_page, write_explanation):
    address, _ = write_explanation(TEXT)
    page = open_page(address, offline=True)
    page.evaluate(
        """() => { const script = document.createElement("script");
                   script.textContent = "window.hacked = 1"; document.body.append(script); }"""
    )
    assert page.evaluate("window.hacked") is None
    (complaint,) = page.complaints  # the browser says so, and that is as it should be
    assert "Content Security Policy" in complaint
    page.complaints.clear()


def test_a_translation_of_nothing_is_shown_too(open_page, write_explanation):
    """A model may say nothing at all: its translation is </s> alone."""
    _, found = write_explanation(TEXT)
    heads = found["model"]["n_heads"]
    n = len(found["source"]["pieces"])

    def packed(*shape):
        data = np.full(shape, 255 // shape[-1], np.uint8)
        return {"shape": list(shape), "data": base64.b64encode(data.tobytes()).decode()}

    attention = {
        name: found["attention"][name]
        if name.startswith("encoder")
        else packed(heads, 1, n if name.endswith("cross") else 1)
        for name in found["attention"]
    }
    target = {"text": "", "pieces": ["</s>"], "words": [], "piece_words": [None]}
    address, _ = write_explanation(
        TEXT,
        target={**target, "log_probs": [-2.0], "forced": 0},
        alignment=[],
        attention=attention,
        alternatives=found["alternatives"][:1],
        continuations=found["continuations"][:1],
        prefix_ids=[],
    )
    page = open_page(address, offline=True)
    assert page.text_content("#translation") == "(nothing)"
    for tab in ("#tab-beam", "#tab-flow", "#tab-attention"):
        page.click(tab)
    assert page.locator(".sentence.target button").count() == 1


def test_a_long_sentence_of_a_base_model_is_drawn_at_once(open_page, write_explanation, capsys):
    """128 x 128 tokens, 6 layers, 8 heads: the figure is printed; what is drawn is checked."""
    length, layers, heads = 128, 6, 8
    rng = np.random.default_rng(1)
    pieces = [f"▁w{i}" for i in range(length - 1)] + ["</s>"]
    side = {
        "text": " ".join(piece[1:] for piece in pieces[:-1]),
        "pieces": pieces,
        "words": [piece[1:] for piece in pieces[:-1]],
        "piece_words": [*range(length - 1), None],
    }
    table = rng.integers(0, 256, (heads, length, length), dtype=np.uint8)
    packed = {"shape": [heads, length, length], "data": base64.b64encode(table.tobytes()).decode()}
    names = [
        f"{kind[0]}.{n}.{kind[1]}"
        for n in range(layers)
        for kind in (("encoder", "self"), ("decoder", "self"), ("decoder", "cross"))
    ]
    option = {"piece": "▁w", "id": 5, "probability": 0.5, "text": "w"}
    _, small = write_explanation(TEXT)
    address, _ = write_explanation(
        TEXT,
        source=side,
        target={**side, "log_probs": [-0.1] * length, "forced": 0},
        alignment=[[i, i] for i in range(length - 1)],
        alternatives=[[option]] * length,
        attention={name: dict(packed) for name in names},
        model={**small["model"], "n_heads": heads, "alignment_heads": [["decoder.4.cross", 0]]},
        head_effects=None,
        continuations=None,
    )
    page = open_page(address, offline=True)
    milliseconds = page.evaluate(
        """async () => {
             const started = performance.now();
             document.getElementById("kind-encoder.self").click();
             document.querySelector(".cells").getBoundingClientRect();  // layout done
             await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
             return performance.now() - started;
           }"""
    )
    alone = page.evaluate("performance.getEntriesByName('attention drawn').at(-1).duration")
    with capsys.disabled():
        sys.stdout.write(
            f"\n  128 x 128 tokens, {layers} layers x {heads} heads:"
            f" {alone:.0f} ms to draw, {milliseconds:.0f} ms until on the screen\n"
        )
    assert page.locator(".thumbnail").count() == layers * heads
    assert drawn(page, ".cells canvas").shape == (length, length)
    assert drawn(page, ".thumbnail:last-child canvas").shape == (length, length)
    page.click("#all-heads")
    assert page.locator(".many figure").count() == heads


def test_the_data_in_the_file_is_the_explanation(open_page, write_explanation):
    address, explanation = write_explanation(TEXT)
    page = open_page(address, offline=True)
    assert json.loads(page.text_content("#explanation")) == explanation
