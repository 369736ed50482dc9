"""Documents that want to do harm can do none: no script, no way out, nothing loaded, the page around them untouched."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

HOSTILE = {
    "script": "<script>top.document.body.innerHTML = 'owned'; fetch('{canary}/script')</script><p>x</p>",
    "handlers": '<img src=x onerror="top.location=\'{canary}/onerror\'"><body onload="parent.owned=1"><p>x</p>',
    "meta refresh": '<meta http-equiv="refresh" content="0;url={canary}/refresh"><p>x</p>',
    "refresh to a script": '<meta http-equiv="refresh" content="0;url=javascript:parent.owned=1"><p>x</p>',
    "form": '<form action="{canary}/form" method="post"><button autofocus>go</button></form><p>x</p>',
    "svg": '<svg xmlns="http://www.w3.org/2000/svg" onload="parent.owned=1"><script>parent.owned=1</script>'
    '<image href="{canary}/svg.png"/><foreignObject><iframe src="{canary}/svg"></iframe></foreignObject></svg><p>x</p>',
    "base": '<base href="{canary}/" target="_top"><img src="base.png"><link rel="stylesheet" href="base.css">'
    '<a href="away">x</a><p>x</p>',
    "covering styles": "<style>*{position:fixed;inset:0;z-index:999999;background:red}@import url({canary}/a.css);"
    "body{background:url({canary}/b.png)}</style><p>x</p>",
    "frames": '<iframe src="{canary}/frame"></iframe><object data="{canary}/o"></object>'
    '<embed src="{canary}/e"><p>x</p>',
    "prefetch": '<link rel="dns-prefetch" href="{canary}"><link rel="preload" as="image" href="{canary}/p"><p>x</p>',
    "preconnect": '<LiNk\nrel="preconnect" href="{canary}"><link/rel="modulepreload" href="{canary}/m"><p>x</p>',
    "frames in disguise": '<IFRAME/src="{canary}/f"></IFRAME><svg><iframe\tsrc="{canary}/g"></svg><frameset><p>x</p>'
    '<math><mtext><embed src="{canary}/h"></mtext></math><p>x</p>',
    "broken out of": "</iframe></body></html><script>top.owned=1</script><p>x</p>",
}


@pytest.fixture
def canary():
    """Another site, which notes whatever reaches it."""
    reached = []

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def get_request(self):
            reached.append("a connection")
            return super().get_request()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self):
            reached.append(self.path)
            self.send_response(200)
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *words):
            pass

    server = Server(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://localhost:{server.server_port}", reached
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_canary_sings(page, canary):
    page.set_content(f"<img src='{canary[0]}/seen.png'>")
    page.wait_for_timeout(300)
    assert "/seen.png" in canary[1]


def test_hostile_documents_do_nothing(page, press, serve, canary):
    """All of them, one after the other, as a judge meets them."""
    address, reached = canary
    pages = {kind: html.replace("{canary}", address) for kind, html in HOSTILE.items()}
    title = "<script>top.owned=1</script> "
    wild = [
        {"doc": kind, "title": title + kind, "snippet": html, "url": f"javascript:{html}", "html": html}
        for kind, html in pages.items()
    ]
    study = serve([{"query": "q1", "doc": kind} for kind in pages], more=wild)
    popups = []
    page.context.on("page", lambda other: popups.append(other))
    page.goto(study.link())
    page.goto(f"{study.url}/judge")
    seen = [""]
    while len(seen) <= len(pages):
        fresh = (
            "last => document.querySelector('.answer') && document.querySelector('#document-title').innerText !== last"
        )
        page.wait_for_function(fresh, arg=seen[-1])
        seen.append(page.inner_text("#document-title"))
        kind = seen[-1].removeprefix(title)
        before = {name: round(value) for name, value in page.locator(".answer").bounding_box().items()}
        press("o")
        page.frame_locator("iframe").locator("p").first.wait_for(state="attached")
        if kind == "form":
            page.frame_locator("iframe").locator("button").click()
        if kind == "base":
            page.frame_locator("iframe").locator("a").click()
        page.wait_for_timeout(150)
        assert (kind, page.url) == (kind, f"{study.url}/judge")
        assert not reached, kind
        assert not popups, kind
        assert page.evaluate("typeof owned") == "undefined", kind
        after = {name: round(value) for name, value in page.locator(".answer").bounding_box().items()}
        assert (kind, after) == (kind, before)
        inside = page.evaluate("() => document.elementFromPoint(1200, 200).closest('.answer') !== null")
        assert inside, f"the answer panel lies on top of {kind}"
        press("2", "Enter")
        study.wait_for(len(seen) - 1, "answer")
    assert {text.removeprefix(title) for text in seen[1:]} == {*pages}
    page.wait_for_timeout(250)
    assert not reached
    assert not popups
    page.wrong[:] = [text for text in page.wrong if "Content Security Policy" not in text]


def test_the_page_of_a_document_has_its_own_strict_policy(page, serve):
    study = serve([{"query": "q1", "doc": "q1-d0"}])
    page.goto(study.link())
    with page.expect_response("**/document/**") as framed:
        page.goto(f"{study.url}/judge")
        page.wait_for_selector(".answer")
        page.keyboard.press("o")
    policy = framed.value.headers["content-security-policy"]
    assert "sandbox" in policy
    assert "default-src 'none'" in policy
    assert "allow-" not in policy
    assert framed.value.headers["referrer-policy"] == "no-referrer"
    assert page.get_attribute("iframe", "sandbox") == ""
