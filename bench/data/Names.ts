/** Names of generated players, common and rare, so that searches cover texts of every frequency. */

const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

export const firstNames = words(`
  Emma Olivia Mia Sofia Anna Lena Laura Julia Maria Elena Nora Ida Freya Astrid Sara Eva Chloe Alice Lucia Martina Giulia
  Ines Carmen Paula Marta Zofia Hanna Petra Katarina Ivana Milica Daria Aino Helmi Liam Noah Oliver Lucas Leo Hugo Oscar
  William James Henry Jack Thomas Daniel David Adam Jakub Jan Tomas Marek Pavel Lukas Felix Max Paul Jonas Finn Emil Axel
  Nils Lars Anders Mateo Pablo Diego Marco Luca Matteo Andrea Giovanni Ivan Nikola Stefan Milan Viktor Andrei Mihai Juhani
`)

/** Common ones come first: half of the players have one of the first twenty. */
export const lastNames = words(`
  Smith Jones Garcia Silva Muller Schmidt Andersson Johansson Hansen Larsen Novak Kowalski Rossi Russo Martin Bernard Ivanov
  Popescu Nagy Virtanen Brown Taylor Wilson Evans Walker Wright Hughes Fernandez Lopez Martinez Sanchez Ferrari Esposito
  Bianchi Romano Dubois Moreau Laurent Lefebvre Schneider Fischer Weber Meyer Wagner Becker Hoffmann Koch Richter Klein Wolf
  Karlsson Nilsson Eriksson Olsen Pedersen Nielsen Korhonen Makinen Nieminen Laine Horvat Kovac Babic Petrovic Jovanovic
  Dimitrov Georgiev Petrov Stoica Dumitru Szabo Toth Varga Kiss Dvorak Svoboda Cerny Prochazka Wojcik Lewandowski Zielinski
  Szymanski Almeida Pereira Santos Oliveira Ribeiro Carvalho Kelly Murphy Byrne Walsh Ryan Camilleri Borg Vella Farrugia Zammit
  Papadopoulos Nikolaidis Georgiou Tamm Saar Kask Berzins Kalnins Ozols Kazlauskas Petrauskas Vandenberghe Quackenbush
  Featherstonehaugh
`)

/** Mail providers, repeated as often as they are common. */
export const mailDomains = words(`
  gmail.com gmail.com gmail.com gmail.com gmail.com gmail.com gmail.com gmail.com outlook.com outlook.com hotmail.com yahoo.com
  yahoo.com icloud.com proton.me gmx.net
`)

export const usernamePrefixes = words("lucky golden wild mega royal neon turbo silver")
