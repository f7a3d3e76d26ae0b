"""The explorer before a real server: everything a reader can do there."""

import json
import re

import pytest

TEXT = "Der Mann kocht, während die Frau liest."
ANSWER = "The man cooks while the woman reads."
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def explore(open_page, server):
    """Opens the page and translates a sentence in it."""

    def go(text=TEXT, **window):
        page = open_page(server, **window)
        page.fill("#text", text)
        page.click("button.main")
        page.wait_for_selector("#details:not([hidden])")
        return page

    return go


def asked(page, path):
    """Notes the bodies that the page sends to a route from now on."""
    bodies = []

    def note(request):
        if request.url.endswith(path):
            bodies.append(json.loads(request.post_data))

    page.on("request", note)
    return bodies


# --- translating ---------------------------------------------------------------------------------


def test_a_typed_sentence_is_translated_piece_by_piece(open_page, server):
    page = open_page(server)
    page.evaluate(
        """() => {
             const out = document.getElementById("translation");
             window.seen = [];
             new MutationObserver(() => window.seen.push(out.textContent))
               .observe(out, { childList: true });
           }"""
    )
    page.fill("#text", TEXT)
    page.keyboard.press("Enter")
    page.wait_for_selector("#details:not([hidden])")
    assert page.text_content("#translation") == ANSWER
    seen = page.evaluate("window.seen")
    assert "The man" in seen
    lengths = [len(text) for text in seen]
    assert lengths == sorted(lengths)
    assert page.get_attribute("#translation", "aria-live") == "polite"
    assert page.get_attribute("#translation", "aria-busy") == "false"


def test_the_words_of_both_sentences_are_linked(explore, translator):
    page = explore()
    found = translator.explain(TEXT).to_json()
    assert page.locator(".sentence.source button").count() == len(found["source"]["pieces"])
    assert page.locator(".sentence.target button").count() == len(found["target"]["pieces"])
    assert page.locator(".links .link").count() == len(found["alignment"])


def test_pointing_at_a_piece_shows_its_alignment_and_what_it_looks_at(explore, translator):
    page = explore()
    page.hover("#target-0")
    source, _ = next(p for p in translator.explain(TEXT).to_json()["alignment"] if p[1] == 0)
    assert page.locator(".link.chosen").count() >= 1
    assert page.locator(".ribbon").count() >= 1
    assert TEXT.split()[source] in page.text_content("#stage-readout")
    assert page.locator(".mark.row").is_visible()
    page.hover("footer")
    assert page.locator(".ribbon").count() == 0


def test_several_models_can_be_chosen_from(open_page, server):
    page = open_page(server)
    page.wait_for_selector("#model option", state="attached")
    assert [t.split(" · ")[:2] for t in page.locator("#model option").all_text_contents()] == [
        ["de → en", "six"],
        ["en → de", "none"],
    ]
    page.select_option("#model", "none")
    bodies = asked(page, "/api/explain")
    page.fill("#text", TEXT)
    page.click("button.main")
    page.wait_for_selector("#details:not([hidden])")
    assert bodies[0]["model"] == "none"
    assert page.text_content("#translation") != ANSWER


def test_beam_and_length_penalty_are_sent(open_page, server):
    page = open_page(server)
    bodies = asked(page, "/api/explain")
    page.fill("#text", TEXT)
    page.select_option("#beam", "2")
    page.fill("#penalty", "1.5")
    page.click("button.main")
    page.wait_for_selector("#details:not([hidden])")
    assert (bodies[0]["beam"], bodies[0]["length_penalty"]) == (2, 1.5)
    page.click("#tab-beam")
    assert "2 best beginnings" in page.text_content("#beam-view .hint")


# --- attention -----------------------------------------------------------------------------------


def test_kind_layer_and_head_are_chosen_from_small_pictures(explore):
    page = explore()
    for kind, name in [
        ("encoder.self", "encoder.1.self [2]"),
        ("decoder.self", "decoder.1.self [2]"),
        ("decoder.cross", "decoder.1.cross [2]"),
    ]:
        page.click(f"[id='kind-{kind}']")
        page.click("[aria-label^='layer 2, head 3']")
        assert page.text_content(".large-head code") == name
        assert page.locator(".thumbnail").count() == 8
        assert page.get_attribute("[aria-label^='layer 2, head 3']", "aria-checked") == "true"


def test_all_heads_of_a_layer_are_shown_side_by_side(explore):
    page = explore()
    page.click("#all-heads")
    assert page.locator(".many figure canvas").count() == 4
    page.hover("#target-2")
    assert page.locator(".many .mark.row:visible").count() == 4
    page.click("#all-heads")
    assert page.locator(".one .cells canvas").count() == 1


def test_the_strongest_links_can_be_read_as_a_table(explore, translator):
    page = explore()
    page.click(".as-table summary")
    rows = page.locator(".as-table tbody tr")
    rows.first.wait_for()
    assert rows.count() == len(translator.explain(TEXT).target.pieces)
    assert re.search(r"\d\s%", rows.first.text_content())


def test_a_head_is_switched_off_and_on_again(explore, translator):
    page = explore()
    bodies = asked(page, "/api/explain")
    page.click("[id='kind-encoder.self']")
    page.click("[aria-label^='layer 1, head 2']")
    page.click("#head-off")
    page.wait_for_selector("#changes:not([hidden])")
    assert bodies[-1]["heads_off"] == [["encoder.0.self", 1]]
    changed = translator.explain(TEXT, heads_off=[("encoder.0.self", 1)])
    assert page.text_content("#translation") == changed.target.text
    said = page.text_content("#changes")
    assert "Encoder self-attention, layer 1, head 2: off" in said
    assert f"{abs(changed.log_prob):.2f}" in said
    assert "off" in page.get_attribute("[aria-label^='layer 1, head 2']", "class")
    page.click("#head-off")
    page.wait_for_selector("#changes", state="hidden")
    assert page.text_content("#translation") == ANSWER


# --- choices -------------------------------------------------------------------------------------


def test_a_translation_goes_on_from_another_choice_and_back(explore, translator):
    page = explore()
    found = translator.explain(TEXT, effects=True)
    # The first alternative that leads to another sentence, not only to other pieces of it.
    other = next(k for k, text in enumerate(found.continuations[1]) if text != ANSWER)
    choice = found.alternatives[1][other]
    bodies = asked(page, "/api/explain")
    page.click("#target-1")
    rows = page.locator(".choice")
    assert rows.count() == 8
    assert rows.first.is_disabled()  # the piece that was taken
    shown = rows.nth(other).text_content()
    assert f"{100 * choice.probability:.1f}\u00a0%" in shown or "<\u00a00.1\u00a0%" in shown
    rows.nth(other).click()
    page.wait_for_selector("#changes:not([hidden])")
    prefix = [*found.prefix_ids[:1], choice.id]
    assert bodies[-1]["prefix_ids"] == prefix
    changed = translator.explain(TEXT, prefix_ids=prefix).target.text
    assert page.text_content("#translation") == changed
    assert page.locator(".piece.forced").count() == 2
    words = page.locator("#changes .difference > :not(del)").all_text_contents()
    assert words == changed.split()
    page.click("#changes .chip")
    page.wait_for_selector("#changes", state="hidden")
    assert page.text_content("#translation") == ANSWER


def test_the_differences_of_two_texts_are_words_gone_and_new(open_page, server):
    page = open_page(server)
    found = page.evaluate(
        "import('/static/compare.js').then(m => m.difference('a dog runs home', 'a cat runs'))"
    )
    assert found == [
        ["a", "same"],
        ["dog", "gone"],
        ["cat", "new"],
        ["runs", "same"],
        ["home", "gone"],
    ]


# --- the search and the flow ---------------------------------------------------------------------


def test_the_beam_is_a_tree_with_scores_and_with_what_was_pruned(explore, translator):
    page = explore()
    page.click("#tab-beam")
    nodes = translator.explain(TEXT).to_json()["beam"]["nodes"]
    assert page.locator(".node").count() == len(nodes)
    for state in ("kept", "pruned", "finished"):
        expected = sum(node["state"] == state for node in nodes)
        assert page.locator(f".node.{state}").count() == expected
    assert page.locator(".node.best").count() == sum(node["best"] for node in nodes)
    best = max((n for n in nodes if n["state"] == "finished"), key=lambda n: n["score"])
    button = page.locator(f"[data-node='{best['id']}']")
    assert f"−{abs(best['score']):.2f}" in button.text_content().replace("0.00", "−0.00")
    button.hover()
    assert ANSWER in page.text_content("#beam-view .readout")
    page.check("#beam-view [type=checkbox]")
    assert page.locator(".node.pruned:visible").count() == 0


def test_the_tree_grows_step_by_step(explore, translator):
    page = explore()
    page.click("#tab-beam")
    nodes = translator.explain(TEXT).to_json()["beam"]["nodes"]
    slider = page.locator("#beam-view [type=range]")
    slider.fill("2")
    assert page.locator(".node:visible").count() == sum(node["step"] <= 2 for node in nodes)
    slider.fill(str(max(node["step"] for node in nodes) - 1))
    page.click("#beam-view .controls button")
    page.wait_for_selector(".tree.done")
    assert page.locator(".node:visible").count() == len(nodes)


def test_the_flow_shows_every_station_with_its_shape(explore, translator):
    page = explore()
    page.click("#tab-flow")
    found = translator.explain(TEXT).to_json()
    flow, piece = found["flow"], found["target"]["pieces"][2].lstrip("▁")
    assert page.locator(".station").count() == len(flow)
    for station, step in zip(page.locator(".station").all(), flow, strict=True):
        said = station.text_content()
        assert step["what"] in said
        assert " × ".join(f"{n:,}" for n in step["shape"]) in said
    page.select_option("#flow select", "2")
    assert f"about to say “{piece}”" in page.text_content(".stack.decoder h2")
    assert f"“{piece}”" in page.locator(".station").last.text_content()


# --- whatever is typed ---------------------------------------------------------------------------


def test_a_script_in_the_input_is_shown_as_text(explore):
    attack = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    page = explore(attack)
    shown = page.locator(".sentence.source .piece:not(.dim)").all_text_contents()
    assert "script" in "".join(shown).replace("␣", " ")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script").count() == 0


def test_text_that_runs_from_right_to_left_does_so(explore):
    page = explore("كلب يركض في الحديقة")
    assert page.get_attribute(".sentence.source .row", "dir") == "rtl"
    first, second = (
        page.locator("#source-0").bounding_box(),
        page.locator("#source-9").bounding_box(),
    )
    assert first["x"] > second["x"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("   ", "Type a sentence first."), ("Hund " * 300, "pieces: this model takes")],
    ids=["nothing", "too much"],
)
def test_what_cannot_be_translated_is_said_and_the_page_goes_on(open_page, server, text, said):
    page = open_page(server)
    page.fill("#text", text)
    page.click("button.main")
    page.wait_for_selector("#message:not([hidden])")
    page.wait_for_function(f"document.getElementById('message').textContent.includes('{said}')")
    page.complaints.clear()  # the browser notes the refusal itself
    page.fill("#text", TEXT)
    page.click("button.main")
    page.wait_for_selector("#details:not([hidden])")
    assert page.is_hidden("#message")
    assert page.text_content("#translation") == ANSWER


def test_a_server_that_went_away_is_said(explore):
    page = explore()
    page.context.set_offline(True)
    page.click("#head-off")
    page.wait_for_selector("#message:not([hidden])")
    assert "cannot be reached" in page.text_content("#message")
    page.complaints.clear()


# --- every reader --------------------------------------------------------------------------------


def test_everything_can_be_done_by_keyboard(open_page, server, translator):
    page = open_page(server)
    press, focused = page.keyboard.press, "document.activeElement"

    def tab_to(condition):
        for _ in range(60):
            press("Tab")
            if page.evaluate(f"(() => {{ const it = {focused}; return {condition}; }})()"):
                # Whatever has the focus shows it.
                style = page.evaluate(f"getComputedStyle({focused}).outlineStyle")
                assert style != "none"
                return
        pytest.fail(f"not reached by Tab: {condition}")

    for _ in range(5):
        press("Tab")
        if page.evaluate(f"{focused}.id") == "text":
            break
    page.keyboard.type(TEXT)
    press("Enter")
    page.wait_for_selector("#details:not([hidden])")
    tab_to("it.id === 'source-0'")
    press("ArrowRight")
    assert page.evaluate(f"{focused}.id") == "source-1"
    tab_to("it.id === 'target-0'")
    press("ArrowRight")
    press("Enter")
    assert page.get_attribute("#target-1", "aria-expanded") == "true"
    tab_to("it.classList.contains('choice')")
    press("Escape")
    assert page.evaluate(f"{focused}.id") == "target-1"
    tab_to("it.id === 'tab-attention'")
    press("ArrowRight")
    assert page.is_visible("#beam-view")
    tab_to("it.dataset.node === '0'")
    press("ArrowRight")
    assert "“The” · kept" in page.text_content("#beam-view .readout")
    press("Shift+Tab")
    page.focus("#tab-beam")
    press("ArrowLeft")
    tab_to("it.id.startsWith('kind-')")
    press("ArrowLeft")
    assert page.get_attribute("[id='kind-decoder.self']", "aria-checked") == "true"
    assert page.evaluate(f"{focused}.id") == "kind-decoder.self"
    tab_to("it.classList.contains('thumbnail')")
    press("ArrowLeft")
    press("ArrowUp")
    tab_to("it.classList.contains('cells')")
    press("ArrowDown")
    assert re.search(r"looks at “\w+” with", page.text_content(".large .readout"))
    page.focus("#head-off")
    press("Enter")
    page.wait_for_selector("#changes:not([hidden])")
    assert page.evaluate(f"{focused}.id") == "head-off"


def test_a_phone_has_no_sideways_scrolling(explore):
    page = explore(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    page.tap("#target-1")
    for tab in ("attention", "beam", "flow"):
        page.tap(f"#tab-{tab}")
        assert page.evaluate(OVERFLOW) <= 0, tab
    page.tap("#tab-attention")
    page.tap("#all-heads")
    assert page.evaluate(OVERFLOW) <= 0
    source, target = (page.locator(f"#{side}-0").bounding_box() for side in ("source", "target"))
    assert source["x"] + source["width"] < target["x"]  # side by side, links between them


def test_dark_and_light_follow_the_system_and_the_button(explore):
    page = explore(color_scheme="dark")

    def light(selector):
        colour = page.evaluate(
            f"getComputedStyle(document.querySelector('{selector}')).backgroundColor"
        )
        return sum(int(n) for n in re.findall(r"\d+", colour)[:3])

    def first_cells():
        return page.evaluate(
            """() => {
                 const context = document.querySelector(".thumbnail canvas").getContext("2d");
                 return [...context.getImageData(0, 0, 5, 5).data];
               }"""
        )

    dark = first_cells()
    assert light("body") < 150
    page.click("#theme")  # light
    assert light("body") > 650
    assert first_cells() != dark
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.click("#theme")  # dark
    page.click("#theme")  # as the system has it
    assert light("body") < 150


def test_a_reader_who_wants_no_motion_gets_none(explore):
    page = explore(reduced_motion="reduce")
    page.click("#tab-beam")
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.node')).animationName") == "none"
    )
