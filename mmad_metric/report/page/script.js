(() => {
  "use strict";
  const form = document.getElementById("filters");
  const list = document.getElementById("rows");
  const nothing = document.getElementById("nothing");
  const field = (name) => form.elements.namedItem(name);
  // What a run cannot be asked for, such as its errors' severities where there are none, has no field.
  const chosen = (name) => (field(name) ? field(name).value : "");
  const RANK = ["neutral", "minor", "major", "critical"];

  // What the filters look at, read off the page once; the words only when somebody searches.
  const readError = (item) => ({
    item,
    number: item.dataset.number,
    dimension: item.dataset.dimension,
    severity: item.dataset.severity,
    support: item.dataset.support === undefined ? null : Number(item.dataset.support),
    disputed: item.dataset.disputed,
  });
  const readReading = (element) => ({
    element,
    status: element.dataset.status,
    errors: [...element.querySelectorAll(".errors > li")].map(readError),
    marks: [...element.querySelectorAll("mark[data-errors]")],
    ends: [...element.querySelectorAll(".end")],
    touched: false,
  });
  const readCard = (element) => ({
    element,
    words: null,
    system: element.dataset.system,
    score: element.dataset.score === undefined ? null : Number(element.dataset.score),
    readings: [...element.querySelectorAll(".reading")].map(readReading),
  });
  const rows = [...list.children].map((element) => ({
    element,
    words: null,
    head: [...element.children].filter((child) => !child.classList.contains("cards")),
    cards: [...element.querySelectorAll(".card")].map(readCard),
  }));
  const names = new Map(
    [...form.querySelectorAll("input[name=system]")].map((box) => [box.value, box.parentElement.textContent]),
  );

  const asked = () => ({
    words: field("text").value.trim().toLowerCase(),
    systems: names.size
      ? new Set([...form.querySelectorAll("input[name=system]:checked")].map((box) => box.value))
      : null,
    dimension: chosen("dimension"),
    severity: chosen("severity"),
    support: Number(chosen("support")) / 100,
    disputed: chosen("disputed"),
    status: field("status").value,
    order: field("order").value,
  });
  const aboutErrors = (wish) => wish.dimension || wish.severity || wish.support || wish.disputed;
  // Nobody was asked about an error without a history: like --min-support, no condition drops it.
  const errorFits = (error, wish) =>
    (!wish.dimension || error.dimension === wish.dimension) &&
    (!wish.severity || error.severity === wish.severity) &&
    (error.support === null || error.support >= wish.support - 1e-9) &&
    (!wish.disputed || error.disputed === undefined || error.disputed === wish.disputed);
  const statusFits = (reading, wish) =>
    !wish.status || (wish.status === "errors" ? reading.errors.length > 0 : reading.status === wish.status);

  const lower = (elements) => elements.map((element) => element.textContent.toLowerCase()).join("\n");
  // In what the row itself says, and in the systems that are shown.
  const hasWords = (row, words) => {
    if (!words) return true;
    if (row.words === null) row.words = lower(row.head);
    if (row.words.includes(words)) return true;
    return row.cards.some((card) => {
      if (card.element.hidden) return false;
      if (card.words === null) card.words = lower([card.element]);
      return card.words.includes(words);
    });
  };

  // An error that the filters leave aside stays in the list, dimmed, and loses its mark.
  const look = (reading, wish, narrowed) => {
    if (!narrowed && !reading.touched) return;
    reading.touched = narrowed;
    const kept = new Map();
    for (const error of reading.errors) {
      const fits = errorFits(error, wish);
      error.item.classList.toggle("aside", !fits);
      if (fits) kept.set(error.number, RANK.indexOf(error.severity));
    }
    for (const mark of reading.marks) {
      const ranks = mark.dataset.errors.split(" ").filter((number) => kept.has(number)).map((number) => kept.get(number));
      const kind = ranks.length ? RANK[Math.max(...ranks)] : "aside";
      mark.className = kind + (mark.classList.contains("point") ? " point" : "");
    }
    for (const end of reading.ends) end.classList.toggle("aside", !kept.has(end.dataset.number));
  };

  const lowest = (row) => {
    const scores = row.cards.filter((card) => !card.element.hidden && card.score !== null).map((card) => card.score);
    return scores.length ? Math.min(...scores) : null;
  };
  const difference = (row) => {
    const score = (system) => (row.cards.find((card) => card.system === system) || { score: null }).score;
    const [one, other] = [score(field("one").value), score(field("other").value)];
    return one === null || other === null ? null : one - other;
  };
  const ORDERS = { worst: [lowest, 1], best: [lowest, -1], difference: [difference, -1] };
  let lastOrder = "";
  const sort = (wish) => {
    // A pair of systems belongs to the order; so do the systems shown, whose scores decide it.
    const pair = wish.order === "difference" ? `${field("one").value} ${field("other").value}` : "";
    const order = wish.order ? [wish.order, pair, ...(wish.systems || [])].join(" ") : "";
    if (order === lastOrder) return;
    lastOrder = order;
    const sorted = [...rows];
    if (wish.order) {
      const [value, sign] = ORDERS[wish.order];
      const values = new Map(rows.map((row) => [row, value(row)]));
      // Rows without a value come last; the sort is stable.
      sorted.sort((a, b) => {
        const [one, other] = [values.get(a), values.get(b)];
        if (one === null || other === null) return (one === null) - (other === null);
        return sign * (one - other);
      });
    }
    list.append(...sorted.map((row) => row.element));
  };

  const number = (value) => (value + 0).toFixed(2).replace("-", "−");
  const tell = (wish, narrowed) => {
    const n = rows.filter((row) => !row.element.hidden).length;
    let text = `${n} of ${rows.length} segments shown.`;
    const sums = new Map();
    for (const row of rows) {
      if (row.element.hidden) continue;
      for (const card of row.cards) {
        if (card.element.hidden || card.score === null) continue;
        const sum = sums.get(card.system) || [0, 0];
        sums.set(card.system, [sum[0] + card.score, sum[1] + 1]);
      }
    }
    const active = wish.words || narrowed || wish.status || (wish.systems && wish.systems.size < names.size);
    if (active && sums.size) {
      const sorted = [...sums].sort(([one], [other]) => one - other);
      const means = sorted.map(([system, [sum, count]]) => `${names.size ? names.get(system) + " " : ""}${number(sum / count)} (${count})`);
      text += ` Mean score of what is shown, recomputed here: ${means.join(", ")}.`;
      if (narrowed) text += " Scores still count every error of a segment.";
    }
    form.querySelector(".count").textContent = text;
    nothing.hidden = n > 0 || rows.length === 0;
  };

  const apply = () => {
    const wish = asked();
    const narrowed = Boolean(aboutErrors(wish));
    if (field("share")) field("share").value = `${chosen("support")}%`;
    const pair = form.querySelector(".pair-choice");
    if (pair) pair.hidden = wish.order !== "difference";
    // A row stays whole: where one system fits, the others stand beside it, so that the means are
    // over the same segments.
    for (const row of rows) {
      let fits = false;
      for (const card of row.cards) {
        card.element.hidden = Boolean(wish.systems) && !wish.systems.has(card.system);
        for (const reading of card.readings) {
          look(reading, wish, narrowed);
          const found = !narrowed || reading.errors.some((error) => errorFits(error, wish));
          fits = fits || (!card.element.hidden && found && statusFits(reading, wish));
        }
      }
      row.element.hidden = !(fits && hasWords(row, wish.words));
    }
    sort(wish);
    tell(wish, narrowed);
  };

  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 120);
  };
  form.addEventListener("input", soon);
  form.addEventListener("reset", soon);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    const open = form.querySelector(".choice[open]");
    if (event.key !== "Escape" || !open) return;
    open.open = false;
    open.querySelector("summary").focus();
  });

  // An error and its words in the text light up together.
  const light = (event, on) => {
    const target = event.target.closest("mark[data-errors], .errors > li");
    if (!target) return;
    const reading = target.closest(".reading");
    const numbers = new Set((target.dataset.errors || target.dataset.number).split(" "));
    for (const item of reading.querySelectorAll(".errors > li"))
      item.classList.toggle("lit", on && target.matches("mark") && numbers.has(item.dataset.number));
    for (const mark of reading.querySelectorAll("mark[data-errors]"))
      mark.classList.toggle("lit", on && target.matches("li") && mark.dataset.errors.split(" ").some((each) => numbers.has(each)));
  };
  list.addEventListener("mouseover", (event) => light(event, true));
  list.addEventListener("mouseout", (event) => light(event, false));

  form.hidden = false;
  apply();
})();
