// What the pages gain with JavaScript; they work without it. A masked field gets a button that shows what was typed.
for (const button of document.querySelectorAll("button.show")) {
  const field = document.getElementById(button.getAttribute("aria-controls"));
  button.hidden = false;
  button.addEventListener("click", () => {
    const shown = field.type === "password";
    field.type = shown ? "text" : "password";
    button.textContent = shown ? button.dataset.hide : button.dataset.show;
    button.setAttribute("aria-label", shown ? button.dataset.hideName : button.dataset.showName);
    field.focus();
  });
  // A shown secret is hidden again before it leaves, so that the browser does not offer to remember it as text.
  field.form.addEventListener("submit", () => {
    field.type = "password";
  });
}
