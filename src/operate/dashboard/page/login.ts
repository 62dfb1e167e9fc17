import { h } from "./dom.ts";
import { login } from "./server.ts";

/** Asks for the token. The browser then has a cookie, and the page goes on. */
export function loginForm(done: () => void): HTMLElement {
  const token = h("input", { id: "token", type: "password", autocomplete: "current-password", required: true });
  const answer = h("p", { role: "alert", class: "hint" });
  const enter = async () => {
    try {
      await login(token.value);
      done();
    } catch {
      answer.textContent = "This is not the token.";
      token.select();
    }
  };
  return h(
    "section",
    { class: "card login", "aria-labelledby": "login-title" },
    h("h1", { id: "login-title" }, "Token"),
    h("p", { class: "hint" }, "It was chosen when the dashboard was started, or the terminal shows it."),
    h(
      "form",
      {
        class: "field",
        submit(event: Event) {
          event.preventDefault();
          void enter();
        },
      },
      h("label", { for: "token" }, "Token of this dashboard"),
      token,
      h("button", { type: "submit" }, "Open"),
    ),
    answer,
  );
}
