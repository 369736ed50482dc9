// Time at work and time away, apart: away is another window, a hidden page, or a minute without a touch.

const IDLE = 60;
// Reading in the document's frame makes no sound here: more patience then.
const IDLE_READING = 240;

export class Clock {
  constructor() {
    this.active = 0;
    this.away = 0;
    this.last = performance.now();
    this.touched = this.last;
    for (const kind of ["keydown", "pointerdown", "pointermove", "wheel", "touchstart", "scroll"]) {
      window.addEventListener(kind, () => (this.touched = performance.now()), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => this.tick());
    window.addEventListener("blur", () => this.tick());
    window.addEventListener("focus", () => this.tick(true));
    setInterval(() => this.tick(), 1000);
  }

  /** Put the time since the last tick on the right side. */
  tick(wasAway = false) {
    const now = performance.now();
    const passed = (now - this.last) / 1000;
    const patience = document.querySelector("iframe") ? IDLE_READING : IDLE;
    const idle = (now - this.touched) / 1000 > patience;
    // A page whose timers stood still (a closed lid) was not looked at.
    const slept = passed > 10;
    if (wasAway || slept || idle || document.hidden || !document.hasFocus()) this.away += passed;
    else this.active += passed;
    this.last = now;
  }

  start(seconds = 0, away = 0) {
    this.tick();
    this.active = seconds;
    this.away = away;
    this.touched = performance.now();
  }

  read() {
    this.tick();
    const round = (seconds) => Math.round(seconds * 10) / 10;
    return { seconds: round(this.active), away: round(this.away) };
  }
}
