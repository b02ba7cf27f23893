// Removes a browser's folder: its last processes may write there for a moment after the first has ended.
"use strict";
const fs = require("fs");

module.exports = async function gone(folder) {
    for (let tries = 1; ; tries++)
        try {
            return fs.rmSync(folder, {recursive: true, force: true});
        } catch (error) {
            if (tries === 100) throw error;
            await new Promise((then) => setTimeout(then, 100));
        }
};
