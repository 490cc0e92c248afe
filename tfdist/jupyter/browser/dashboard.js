// The dashboard's page: once a second it asks the kernel for its panels, and says if that is silent.

const state = document.getElementById("state");

async function look() {
  try {
    const answer = await fetch(`panels${location.search}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(`${answer.status}`);
    for (const [name, html] of Object.entries(await answer.json())) document.getElementById(name).innerHTML = html;
    state.textContent = "";
  } catch {
    state.textContent = "Nobody answers any more: this is what was seen last.";
  }
  setTimeout(look, 1000);
}

look();
