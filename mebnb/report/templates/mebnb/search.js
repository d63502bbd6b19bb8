// Words of a section count more in its heading. Nothing is sent: the list is in the page.
const SHOWN = 40;
const place = document.getElementById("search");
const index = document.getElementById("index");
const field = Object.assign(document.createElement("input"), {
  type: "search", id: "words", autocomplete: "off", spellcheck: false,
});
const label = Object.assign(document.createElement("label"), {
  htmlFor: "words", textContent: "Words in headings, text and functions",
});
const count = document.createElement("p");
count.setAttribute("role", "status");
const list = Object.assign(document.createElement("ol"), { className: "found" });
place.replaceChildren(label, field, count, list);

function score(words, [heading, chapter, , text]) {
  const strong = heading.toLowerCase();
  const all = `${strong} ${chapter.toLowerCase()} ${text.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return 0;
  return 1 + 10 * words.filter((word) => strong.includes(word)).length;
}

function excerpt(words, text) {
  const found = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
  const at = found ? text.indexOf(" ", found) + 1 : 0; // whole words only
  const part = text.slice(at, at + 200);
  return (at ? "… " : "") + (at + 200 < text.length ? part.replace(/\s\S*$/, " …") : part);
}

function item(words, [heading, chapter, address, text]) {
  const line = document.createElement("li");
  const link = Object.assign(document.createElement("a"), { href: address, textContent: heading });
  const where = Object.assign(document.createElement("span"), { className: "where", textContent: chapter });
  const part = Object.assign(document.createElement("p"), { textContent: excerpt(words, text) });
  line.append(link, " ", where, part);
  return line;
}

function told(number) {
  if (!number) return "No section holds all of these words. Fewer words, or a part of one, find more.";
  const places = `${number} ${number === 1 ? "place" : "places"}`;
  return number > SHOWN ? `${places}, the first ${SHOWN} of them here` : places;
}

function look() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length
    ? PLACES.map((entry) => [score(words, entry), entry]).filter(([points]) => points)
        .sort((one, other) => other[0] - one[0])
    : [];
  count.textContent = words.length ? told(found.length) : "";
  list.replaceChildren(...found.slice(0, SHOWN).map(([, entry]) => item(words, entry)));
  index.hidden = words.length > 0;
}

field.addEventListener("input", look);
