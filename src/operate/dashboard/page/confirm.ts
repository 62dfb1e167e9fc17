import { h } from "./dom.ts";

/** Asks before an action. Resolves to whether the operator agreed. Escape means no. */
export function confirmed(question: string, yes: string): Promise<boolean> {
  return new Promise((resolve) => {
    let isAgreed = false;
    const end = (agreed: boolean) => {
      isAgreed = agreed;
      dialog.close();
    };
    const dialog = h(
      "dialog",
      { "aria-labelledby": "confirm-text" },
      h("p", { id: "confirm-text" }, question),
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "button", autofocus: true, click: () => end(false) }, "Cancel"),
        h("button", { type: "button", class: "danger", click: () => end(true) }, yes),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(isAgreed);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
