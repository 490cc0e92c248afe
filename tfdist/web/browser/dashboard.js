// The dashboard's page: once a second it asks for its panels, and says if nobody answers.

const state = document.getElementById("state");
const place = location.pathname.replace(/\/*$/, "/"); // behind a proxy, as it was typed

async function look() {
  try {
    const answer = await fetch(`${place}panels${location.search}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(`${answer.status}`);
    for (const [name, html] of Object.entries(await answer.json())) showPanel(document.getElementById(name), html);
    state.textContent = "";
  } catch {
    state.textContent = "Nobody answers any more: this is what was seen last.";
  }
  setTimeout(look, 1000);
}

look();
